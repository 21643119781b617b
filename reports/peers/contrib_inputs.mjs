// Inputs and attributes of the cases of contrib.mjs; contrib_cases.mjs says what a case is.

export const f32 = (dims, scale = 1) => ({type: 'float32', dims, scale});
export const f16 = (dims, scale = 1) => ({type: 'float16', dims, scale});
export const reals = (dims, values) => ({type: 'float32', dims, values});
export const u8 = (dims, low = 0, high = 255) => ({type: 'uint8', dims, range: [low, high]});
export const i8 = (dims, low = -128, high = 127) => ({type: 'int8', dims, range: [low, high]});
const ranged = (type, low, high) => (dims) => ({type, dims, range: [low, high]});
export const u16 = ranged('uint16', 0, 65535), i16 = ranged('int16', -32768, 32767);
export const u4 = ranged('uint4', 0, 15), i4 = ranged('int4', -8, 7);
export const sums = ranged('int32', -9000, 9000), flags = ranged('bool', 0, 1);
export const f64 = (dims, scale = 1) => ({type: 'float64', dims, scale});
export const i32 = (dims, values) => ({type: 'int32', dims, values});
export const i64 = (dims, values) => ({type: 'int64', dims, values});
export const below = (dims, limit) => ({type: 'int32', dims, range: [0, limit - 1]});
export const constant = (input) => ({...input, constant: true});
export const float = (value) => ({float: value});
export const kHalf = {atol: 2e-3, rtol: 1e-2};

// Scale and zero point of a quantised tensor. The scales of a case make no ties: there a product may round either way.
export const scaleOf = (value) => constant(reals([], [value]));
export const point = (make, value) => constant({...make([]), range: undefined, values: [value]});
