// The cases of contrib.mjs: one node of com.microsoft each. A case is {name, op, attributes, inputs, outputs, bounds}; op is
// the name's first word unless it is given, outputs defaults to 1, bounds is {atol, rtol}. An input is null where it is
// absent, else {type, dims} with the fill `values`, `range` ([low, high], integers) or `scale` (of values in [-1, 1)), and
// `constant` if it belongs to the model. With `tokens`, sample b of [batch, heads, tokens, size] is 0 from token tokens[b] on.

import {elementCount} from './onnx_bytes.mjs';
import {below, constant, f16, f32, flags, float, i16, i32, i4, i64, i8, kHalf, point, reals, scaleOf, sums, u16, u4, u8} from './contrib_inputs.mjs';
import {kFloatCases} from './contrib_float_cases.mjs';

const kActivations = [
  {name: 'Gelu', inputs: [f32([3, 7], 4)]},
  {name: 'BiasGelu', inputs: [f32([2, 5, 9], 4), f32([9])]},
  {name: 'FastGelu', inputs: [f32([2, 5, 9], 4), f32([9])]},
  {name: 'FastGelu without bias', inputs: [f32([31], 4)]},
  {name: 'QuickGelu', attributes: {alpha: float(1.3)}, inputs: [f32([4, 33], 4)]},
  {name: 'QuickGelu f16', inputs: [f16([4, 33], 4)], bounds: kHalf},
];

const kProducts = [
  {name: 'FusedMatMul', attributes: {alpha: float(0.25)}, inputs: [f32([2, 3, 5]), f32([5, 7])]},
  {name: 'FusedMatMul both transposed', attributes: {transA: 1, transB: 1, alpha: float(-2)}, inputs: [f32([2, 5, 3]), f32([2, 7, 5])]},
  {name: 'TransposeMatMul', attributes: {transB: 1}, inputs: [f32([4, 5]), f32([6, 5])]},
  {
    name: 'FusedGemm', attributes: {transB: 1, alpha: float(0.5), beta: float(2), activation: 'LeakyRelu', activation_alpha: float(0.1)},
    inputs: [f32([3, 5]), f32([4, 5]), f32([4])],
  },
  {
    name: 'FusedConv', attributes: {kernel_shape: [3, 3], pads: [1, 1, 1, 1], strides: [2, 2], activation: 'Relu'},
    inputs: [f32([2, 3, 9, 7]), constant(f32([4, 3, 3, 3])), constant(f32([4]))],
  },
  {
    name: 'FusedConv with a sum', attributes: {kernel_shape: [1, 1], activation: 'Clip', activation_params: {floats: [-0.5, 0.75]}},
    inputs: [f32([1, 3, 5, 4]), constant(f32([4, 3, 1, 1])), constant(f32([4])), f32([1, 4, 5, 4])],
  },
];

const kNorms = [
  {name: 'SkipLayerNormalization', inputs: [f32([2, 3, 16]), f32([2, 3, 16]), f32([16]), f32([16]), f32([16])], outputs: ['y', '', '', 'sum']},
  {name: 'SkipLayerNormalization without beta', attributes: {epsilon: float(0.01)}, inputs: [f32([2, 3, 16]), f32([2, 3, 16]), f32([16])]},
  {name: 'SkipSimplifiedLayerNormalization', inputs: [f32([2, 3, 16]), f32([2, 3, 16]), f32([16]), f32([16])], outputs: ['y', '', '', 'sum']},
  {name: 'SkipSimplifiedLayerNormalization of small values', inputs: [f32([2, 3, 16], 1e-4), f32([2, 3, 16], 1e-4), f32([16])]},
  {name: 'SimplifiedLayerNormalization', domain: '', attributes: {axis: -1, epsilon: float(1e-3)}, inputs: [f32([2, 3, 16]), f32([16])]},
];

const kQuantised = [
  {name: 'QLinearAdd', inputs: [u8([3, 40]), scaleOf(0.03), point(u8, 100), u8([40]), scaleOf(0.05), point(u8, 3), scaleOf(0.07), point(u8, 90)]},
  {name: 'QLinearMul i8', inputs: [i8([3, 40]), scaleOf(0.031), point(i8, 10), i8([3, 1]), scaleOf(0.05), point(i8, -3), scaleOf(0.07), point(i8, 9)]},
  {name: 'QLinearSigmoid', inputs: [u8([100]), scaleOf(0.05), point(u8, 128), scaleOf(1 / 256), point(u8, 0)]},
  {name: 'QLinearLeakyRelu', attributes: {alpha: float(0.2)}, inputs: [i8([100]), scaleOf(0.05), point(i8, 5), scaleOf(0.04), point(i8, -20)]},
  {name: 'QLinearGlobalAveragePool channels last', attributes: {channels_last: 1}, inputs: [i8([2, 5, 7, 3]), scaleOf(0.05), point(i8, 8), scaleOf(0.01), point(i8, -10)]},
  {name: 'QLinearGlobalAveragePool', inputs: [u8([2, 3, 5, 7]), scaleOf(0.05), point(u8, 128), scaleOf(0.01), point(u8, 100)]},
  {
    name: 'QLinearConcat', attributes: {axis: 1},
    inputs: [scaleOf(0.06), point(u8, 120), u8([2, 3, 4]), scaleOf(0.05), point(u8, 128), u8([2, 5, 4]), scaleOf(0.03), point(u8, 20)],
  },
  {name: 'MatMulIntegerToFloat', inputs: [u8([3, 20]), constant(i8([20, 6])), scaleOf(0.02), constant(f32([6], 0.1)), point(u8, 99), point(i8, 4), f32([6])]},
  {name: 'DynamicQuantizeMatMul', inputs: [f32([3, 20]), constant(i8([20, 6])), scaleOf(0.02), point(i8, 4), constant(f32([6]))], bounds: {atol: 1e-5, rtol: 1e-3}},
  {
    name: 'MatMulNBits of 4 bits', attributes: {K: 40, N: 6, bits: 4, block_size: 16},
    inputs: [f32([2, 40]), constant(u8([6, 3, 8])), constant(f32([18], 0.1)), constant(u8([12]))],
  },
  {name: 'MatMulNBits of 8 bits', attributes: {K: 32, N: 5, bits: 8, block_size: 32}, inputs: [f32([2, 32]), constant(u8([5, 1, 32])), constant(f32([5], 0.1))]},
  {
    name: 'QLinearAveragePool', attributes: {kernel_shape: [3, 2], strides: [2, 1], pads: [1, 0, 1, 1]},
    inputs: [u8([2, 3, 9, 7]), scaleOf(0.05), point(u8, 128), scaleOf(0.0313), point(u8, 100)],
  },
  {
    name: 'QLinearAveragePool of padding too', attributes: {kernel_shape: [3, 3], pads: [1, 1, 1, 1], count_include_pad: 1},
    inputs: [i8([1, 2, 5, 6]), scaleOf(0.05), point(i8, 12), scaleOf(0.0313), point(i8, -1)],
  },
  {
    name: 'QLinearAveragePool channels last', attributes: {kernel_shape: [2, 2], strides: [2, 2], ceil_mode: 1, channels_last: 1},
    inputs: [u8([2, 5, 7, 3]), scaleOf(0.05), point(u8, 128), scaleOf(0.0313), point(u8, 100)],
  },
  {
    name: 'QLinearAveragePool of rows', attributes: {kernel_shape: [3]},
    inputs: [u8([2, 3, 11]), scaleOf(0.05), point(u8, 128), scaleOf(0.0313), point(u8, 100)],
  },
];

// Inputs of QGemm up to b's zero point: scales and zero points of b per column, or for all columns.
const quantisedGemm = (a, aDims, b, bDims, columns = []) => [
  a(aDims), scaleOf(0.021), point(a, a === u8 ? 120 : -9), constant(b(bDims)), constant({...f32(columns), values: Array.from({length: elementCount(columns)}, (_, i) => 0.0131 + 0.0007 * i)}),
  constant({...b(columns), range: b === u8 ? [110, 140] : [-6, 6]})];
const kQuantisedGemm = [
  {name: 'QGemm', inputs: [...quantisedGemm(u8, [3, 20], i8, [20, 6]), null, scaleOf(0.37), point(u8, 101)]},
  {name: 'QGemm to floats', attributes: {alpha: float(0.7)}, inputs: quantisedGemm(u8, [3, 20], u8, [20, 6])},
  {name: 'QGemm to floats with c', attributes: {transB: 1}, inputs: [...quantisedGemm(i8, [3, 21], i8, [5, 21], [5]), constant(sums([5]))]},
  {
    name: 'QGemm with c, both transposed', attributes: {transA: 1, transB: 1, alpha: float(1.3)},
    inputs: [...quantisedGemm(u8, [21, 7], i8, [5, 21], [5]), constant(sums([7, 5])), scaleOf(0.29), point(u8, 88)],
  },
  {
    name: 'QGemm with a column c and alpha', attributes: {transA: 1, alpha: float(0.6)},
    inputs: [...quantisedGemm(i8, [40, 9], i8, [40, 17]), sums([9, 1]), scaleOf(0.31), point(i8, -11)],
  },
  {name: 'QGemm with a scalar c', inputs: [...quantisedGemm(u8, [1, 64], u8, [64, 3], [3]), constant(sums([1])), scaleOf(0.4), point(u8, 7)]},
  {name: 'QGemm alpha without c', attributes: {alpha: float(-0.9), transB: 1}, inputs: [...quantisedGemm(u8, [5, 33], i8, [18, 33], [18]), null, scaleOf(0.41), point(u8, 130)]},
];

// A table of codes, the indices, scales per block and zero points where `points` is given.
const kGathered = [
  {name: 'GatherBlockQuantized of bytes of 4 bits', attributes: {block_size: 16, quantize_axis: 1}, inputs: [constant(u8([9, 20])), i64([2, 3], [0, 8, -1, 4, 4, 3]), constant(f32([9, 3]))]},
  {
    name: 'GatherBlockQuantized of bytes of 4 bits with zero points', attributes: {bits: 4, block_size: 16, quantize_axis: -1, gather_axis: 0},
    inputs: [constant(u8([9, 20])), i32([4], [8, 0, -9, 5]), constant(f32([9, 3])), constant(u8([9, 2]))],
  },
  {name: 'GatherBlockQuantized of 8 bits', attributes: {bits: 8, block_size: 32}, inputs: [constant(u8([7, 40])), i64([], [6]), constant(f32([7, 2])), constant(u8([7, 2]))]},
  {name: 'GatherBlockQuantized of 8 bits without zero points', attributes: {bits: 8, block_size: 16}, inputs: [constant(u8([7, 16])), i64([2], [6, 0]), constant(f32([7, 1]))]},
  {name: 'GatherBlockQuantized of 2 bits', attributes: {bits: 2, block_size: 16}, inputs: [constant(u8([5, 12])), i64([3], [4, 0, -2]), constant(f32([5, 3])), constant(u8([5, 1]))]},
  {
    name: 'GatherBlockQuantized of rank 3', attributes: {block_size: 16, quantize_axis: 2},
    inputs: [constant(u8([4, 3, 16])), i64([2], [3, -1]), constant(f32([4, 3, 2])), constant(u8([4, 3, 1]))],
  },
  {name: 'GatherBlockQuantized of i4', attributes: {block_size: 16}, inputs: [constant(i4([6, 34])), i64([2, 2], [5, 0, -6, 2]), constant(f32([6, 3]))]},
  {name: 'GatherBlockQuantized of i4 with zero points, f16', attributes: {block_size: 16}, inputs: [constant(i4([6, 34])), i64([3], [5, 0, 2]), constant(f16([6, 3])), constant(i4([6, 3]))], bounds: kHalf},
  {name: 'GatherBlockQuantized of u4', attributes: {block_size: 16}, inputs: [constant(u4([6, 32])), i64([2], [5, 1]), constant(f32([6, 2]))]},
  {name: 'GatherBlockQuantized of u4, odd rows', attributes: {block_size: 16}, inputs: [constant(u4([5, 33])), i64([2], [4, 1]), constant(f32([5, 3])), constant(u4([5, 3]))]},
  {name: 'GatherBlockQuantized blocks in front', attributes: {block_size: 16, gather_axis: 1, quantize_axis: 0}, inputs: [constant(i4([20, 6, 4])), i64([2], [5, 1]), constant(f32([2, 6, 4])), constant(i4([2, 6, 4]))]},
  {name: 'GatherBlockQuantized along the last axis', attributes: {block_size: 16, gather_axis: -1, quantize_axis: 0}, inputs: [constant(u4([18, 6])), i64([3, 1], [5, -6, 2]), constant(f32([2, 6])), constant(u4([2, 6]))]},
  {name: 'GatherBlockQuantized along the axis of blocks', attributes: {block_size: 16, gather_axis: 1}, inputs: [constant(i4([3, 35])), i64([4], [34, 0, 16, -1]), constant(f32([3, 3])), constant(i4([3, 3]))]},
];

const bits = (K, N, more = {}) => ({K, N, bits: 4, block_size: 16, ...more});
const kComputedWeights = [
  {name: 'MatMulNBits weights that are inputs', attributes: bits(40, 6), inputs: [f32([2, 40]), u8([6, 3, 8]), f32([6, 3], 0.1), u8([6, 2])]},
  {name: 'MatMulNBits weights that are inputs, no zero points', attributes: bits(40, 6, {accuracy_level: 0}), inputs: [f32([2, 3, 40]), u8([6, 3, 8]), f32([18], 0.1), null, null, f32([6])]},
  {name: 'MatMulNBits 8 bits that are inputs', attributes: bits(32, 5, {bits: 8, block_size: 32}), inputs: [f32([2, 32]), u8([5, 1, 32]), f32([5], 0.1), u8([5])]},
  {name: 'MatMulNBits zero points in floats', attributes: bits(40, 6), inputs: [f32([2, 40]), constant(u8([6, 3, 8])), constant(f32([6, 3], 0.1)), constant(f32([6, 3], 8))]},
  {name: 'MatMulNBits zero points in floats, f16', attributes: bits(40, 6), inputs: [f16([2, 40]), constant(u8([6, 3, 8])), constant(f16([6, 3], 0.1)), constant(f16([6, 3], 8))], bounds: kHalf},
  {name: 'MatMulNBits zero points in floats, a bias', attributes: bits(35, 4), inputs: [f32([1, 35]), constant(u8([4, 3, 8])), constant(f32([4, 3], 0.1)), constant(f32([4, 3], 8)), null, constant(f32([4]))]},
  // Beside g_idx ONNX Runtime ignores zero points that are codes.
  {name: 'MatMulNBits g_idx', attributes: bits(35, 4), inputs: [f32([3, 35]), constant(u8([4, 3, 8])), constant(f32([4, 3], 0.1)), constant(f32([4, 3], 8)), constant(i32([35], Array.from({length: 35}, (_, i) => i * 7 % 3)))]},
  {name: 'MatMulNBits g_idx alone', attributes: bits(32, 4), inputs: [f32([3, 32]), constant(u8([4, 2, 8])), constant(f32([4, 2], 0.1)), null, i32([32], Array.from({length: 32}, (_, i) => i * 7 % 3 % 2))]},
  {name: 'MatMulNBits weight_prepacked', attributes: bits(32, 4, {weight_prepacked: 0}), inputs: [f32([3, 32]), constant(u8([4, 2, 8])), constant(f32([4, 2], 0.1))]},
];

// Weights of `directions` in i8, with a scale each or one per column. ONNX Runtime quantises x and the state of each step, too;
// of values up to 0.3 that is 0.001 and 0.0016.
const quantisedLstm = (steps, batch, size, hidden, directions, perColumn = []) => [
  f32([steps, batch, size]), constant(i8([directions, size, 4 * hidden])), constant(i8([directions, hidden, 4 * hidden])), constant(f32([directions, 8 * hidden], 0.2)),
  null, null, null, null, ...[0.4 / Math.sqrt(size), 0.4 / Math.sqrt(hidden)].flatMap((scale) => [
    constant({...f32([directions, ...perColumn]), values: Array.from({length: elementCount([directions, ...perColumn])}, () => scale / 64)}),
    constant({...i8([directions, ...perColumn]), range: [0, 0]})])];
const kInFloats = {atol: 2e-3, rtol: 0};
const kDynamicLstm = [
  {name: 'DynamicQuantizeLSTM', attributes: {hidden_size: 16}, inputs: quantisedLstm(12, 2, 20, 16, 1), outputs: ['y', 'h', 'c'], bounds: kInFloats},
  {name: 'DynamicQuantizeLSTM in both directions', attributes: {hidden_size: 48, direction: 'bidirectional'}, inputs: quantisedLstm(40, 1, 64, 48, 2, [192]), outputs: ['y', 'h', 'c'], bounds: kInFloats},
];

const perAxis = [0.031, 0.02, 0.047];
const kLinear = [
  {name: 'QuantizeLinear', inputs: [f32([3, 20], 4), scaleOf(0.0213), point(u8, 128)]},
  {name: 'QuantizeLinear i8 along axis 0', attributes: {axis: 0}, inputs: [f32([3, 20], 4), constant(reals([3], perAxis)), constant(i8([3]))]},
  {name: 'QuantizeLinear along axis -2', attributes: {axis: -2}, inputs: [f32([2, 3, 5], 4), constant(reals([3], perAxis)), constant(u8([3]))]},
  {name: 'QuantizeLinear u16', attributes: {axis: 1}, inputs: [f32([4, 3], 4), constant(reals([3], [1.1e-4, 2.3e-4, 0.7e-4])), constant(u16([3]))]},
  {name: 'QuantizeLinear i16', inputs: [f32([50], 4), scaleOf(1.3e-4), point(i16, -5)]},
  {name: 'QuantizeLinear f16', inputs: [f16([50], 4), constant({...f16([], 1), values: [0.0313]}), point(i8, 3)]},
  {name: 'QuantizeLinear without a zero point', inputs: [f32([50], 4), scaleOf(0.0213)]},
  {name: 'DequantizeLinear', inputs: [u8([3, 20]), scaleOf(0.0213), point(u8, 128)]},
  {name: 'DequantizeLinear i8 along axis 0', attributes: {axis: 0}, inputs: [i8([3, 20]), constant(reals([3], perAxis)), constant(i8([3]))]},
  {name: 'DequantizeLinear u16', attributes: {axis: 1}, inputs: [u16([4, 3]), constant(reals([3], perAxis)), constant(u16([3]))]},
  {name: 'DequantizeLinear i16', inputs: [i16([50]), scaleOf(1.3e-4), point(i16, -5)]},
  {name: 'DequantizeLinear i32', inputs: [sums([50]), scaleOf(1.3e-4)]},
  {name: 'DequantizeLinear i4', inputs: [constant(i4([3, 5])), scaleOf(0.2), constant({...i4([]), values: [2]})]},
  {name: 'DequantizeLinear u4 f16', inputs: [constant(u4([7])), constant({...f16([], 1), values: [0.2]}), constant({...u4([]), values: [9]})], bounds: kHalf},
];

const kUnaryQuantised = [
  {name: 'QLinearSoftmax', attributes: {opset: 13}, inputs: [u8([3, 4, 10]), scaleOf(0.053), point(u8, 128), scaleOf(1 / 256), point(u8, 0)]},
  {name: 'QLinearSoftmax along axis 1', attributes: {opset: 13, axis: 1}, inputs: [u8([3, 4, 10]), scaleOf(0.053), point(u8, 128), scaleOf(1 / 256), point(u8, 0)]},
  {name: 'QLinearSoftmax of opset 12', attributes: {opset: 12}, inputs: [u8([3, 4, 10]), scaleOf(0.053), point(u8, 128), scaleOf(1 / 256), point(u8, 0)]},
  {name: 'QLinearSoftmax of all axes behind', attributes: {opset: 12, axis: 1}, inputs: [u8([3, 4, 10]), scaleOf(0.053), point(u8, 128), scaleOf(1 / 256), point(u8, 0)]},
  {name: 'QLinearSoftmax of the axes from 2 on', attributes: {opset: 11, axis: 2}, inputs: [i8([2, 3, 4, 5]), scaleOf(0.021), point(i8, 3), scaleOf(1 / 256), point(i8, -128)]},
  {name: 'QLinearSoftmax i8, no zero point of x', attributes: {opset: 13}, inputs: [i8([2, 40]), scaleOf(0.021), null, scaleOf(1 / 256), point(i8, -128)]},
  {name: 'QLinearWhere', inputs: [flags([3, 40]), u8([3, 40]), scaleOf(0.031), point(u8, 100), u8([40]), scaleOf(0.053), point(u8, 3), scaleOf(0.047), point(u8, 90)]},
  {name: 'QLinearWhere i8, a scalar', inputs: [flags([3, 1, 4]), i8([2, 4]), scaleOf(0.031), point(i8, 9), constant(i8([])), scaleOf(0.031), point(i8, 9), scaleOf(0.031), point(i8, 9)]},
  {name: 'QLinearSigmoid i8 without zero points', inputs: [i8([100]), scaleOf(0.05), null, scaleOf(1 / 128), null]},
];

const heads = (num_heads, more = {}) => ({num_heads, ...more});
const qkv = (batch, queries, keys, size, valueSize = size) => [f32([batch, queries, size]), f32([batch, keys, size]), f32([batch, keys, valueSize])];
const kPresent = ['y', 'present_key', 'present_value'], kScores = [...kPresent, {name: 'qk', type: 'float32'}];

const kMultiHead = [
  {name: 'MultiHeadAttention', attributes: heads(4), inputs: qkv(2, 5, 5, 32)},
  {name: 'MultiHeadAttention across', attributes: heads(2, {scale: float(0.3)}), inputs: qkv(2, 3, 7, 16, 24)},
  {name: 'MultiHeadAttention bias', attributes: heads(2), inputs: [...qkv(2, 3, 7, 16, 24), f32([56])], outputs: kPresent},
  {name: 'MultiHeadAttention causal', attributes: heads(3, {unidirectional: 1}), inputs: qkv(2, 6, 6, 24)},
  {name: 'MultiHeadAttention mask of lengths', attributes: heads(2), inputs: [...qkv(3, 4, 7, 16), null, i32([3], [7, 1, 4])]},
  {
    name: 'MultiHeadAttention mask of keys', attributes: heads(2),
    inputs: [...qkv(2, 4, 5, 16), null, i32([2, 5], [1, 1, 0, 1, 0, 0, 0, 0, 0, 1])],
  },
  {
    name: 'MultiHeadAttention row without keys', attributes: heads(2, {mask_filter_value: float(-3)}),
    inputs: [...qkv(2, 4, 3, 16), null, i32([2, 3], [0, 0, 0, 1, 0, 1])],
  },
  {
    name: 'MultiHeadAttention causal with a mask of keys', attributes: heads(2, {unidirectional: 1}),
    inputs: [...qkv(2, 4, 4, 16), null, i32([2, 4], [0, 1, 1, 1, 1, 1, 0, 1])],
  },
  {
    name: 'MultiHeadAttention mask of queries and keys', attributes: heads(2),
    inputs: [...qkv(1, 2, 3, 16), null, i32([1, 2, 3], [1, 0, 1, 0, 1, 0])],
  },
  {name: 'MultiHeadAttention attention_bias', attributes: heads(2), inputs: [...qkv(2, 4, 5, 16), null, null, f32([1, 2, 4, 5], 3)]},
  {
    name: 'MultiHeadAttention attention_bias of one head and a mask', attributes: heads(2),
    inputs: [...qkv(2, 4, 5, 16), f32([48]), i32([2], [5, 2]), f32([2, 1, 4, 5], 3)],
  },
  {name: 'MultiHeadAttention past', attributes: heads(2), inputs: [...qkv(2, 1, 1, 16), null, null, null, f32([2, 2, 6, 8]), f32([2, 2, 6, 8])], outputs: kPresent},
  {
    name: 'MultiHeadAttention causal with past, bias and mask', attributes: heads(2, {unidirectional: 1}),
    inputs: [...qkv(2, 3, 3, 16), f32([48]), i32([2, 7], [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), null, f32([2, 2, 4, 8]), f32([2, 2, 4, 8])],
    outputs: kPresent,
  },
  {name: 'MultiHeadAttention keys by heads', attributes: heads(2), inputs: [f32([2, 3, 16]), f32([2, 2, 7, 8]), f32([2, 2, 7, 8])]},
  {
    name: 'MultiHeadAttention keys by heads with a bias', attributes: heads(2),
    inputs: [f32([2, 3, 16]), f32([2, 2, 7, 8]), f32([2, 2, 7, 8]), f32([48])],
  },
  {
    name: 'MultiHeadAttention keys by heads with a bias and a mask', attributes: heads(2, {scale: float(0.3)}),
    inputs: [f32([2, 1, 16]), f32([2, 2, 7, 8]), f32([2, 2, 7, 8]), f32([48]), i32([2], [7, 3])],
  },
  {
    name: 'MultiHeadAttention mask of lengths and starts', attributes: heads(2),
    inputs: [...qkv(3, 4, 7, 16), null, i32([11], [7, 1, 4, 0, 4, 8, 12, 0, 7, 8, 12])],
  },
  {
    name: 'MultiHeadAttention mask of lengths and starts, one sample, causal', attributes: heads(2, {unidirectional: 1}),
    inputs: [...qkv(1, 5, 5, 16), null, i32([5], [3, 0, 5, 0, 3])],
  },
  {name: 'MultiHeadAttention long', attributes: heads(3, {unidirectional: 1}), inputs: [...qkv(1, 130, 130, 60), null, i32([1], [97])]},
  {name: 'MultiHeadAttention f16', attributes: heads(2), inputs: [f16([2, 3, 16]), f16([2, 5, 16]), f16([2, 5, 16])], bounds: kHalf},
  {name: 'MultiHeadAttention scores', attributes: heads(2), inputs: qkv(2, 3, 5, 16), outputs: kScores},
  {
    name: 'MultiHeadAttention scores with a mask', attributes: heads(2),
    inputs: [...qkv(2, 3, 5, 16), null, i32([2], [5, 2])], outputs: kScores,
  },
];

const groups = (num_heads, kv_num_heads, more = {}) => ({num_heads, kv_num_heads, ...more});
/**
 * Inputs of GroupQueryAttention: past tokens in a buffer of `extent`, null without one, then `queries` new ones; samples
 * have `lengths` tokens in all, at most `total`; heads of 16. ONNX Runtime clears a buffer behind its tokens, so it is 0 there.
 */
const grouped = (q, kv, batch, extent, queries, lengths, total, more = []) => {
  const buffer = {...f32([batch, kv, extent, 16]), tokens: lengths.map((length) => length - queries)};
  return [
    f32([batch, queries, q * 16]), f32([batch, queries, kv * 16]), f32([batch, queries, kv * 16]),
    ...(extent === null ? [null, null] : [buffer, buffer]), i32([batch], lengths.map((length) => length - 1)), i32([1], [total]), ...more];
};
const caches = (positions, pairs = 8) => [constant(f32([positions, pairs])), constant(f32([positions, pairs]))];
const turned = {do_rotary: 1};
const sinks = (count) => [null, null, null, null, constant(f32([count], 3))];  // the inputs from cos_cache to head_sink

const kGroupQuery = [
  {name: 'GroupQueryAttention prompt', attributes: groups(4, 2), inputs: grouped(4, 2, 2, null, 5, [5, 5], 5), outputs: kPresent},
  {name: 'GroupQueryAttention prompt into a buffer', attributes: groups(4, 2), inputs: grouped(4, 2, 1, 9, 5, [5], 5), outputs: kPresent},
  {name: 'GroupQueryAttention token', attributes: groups(4, 2), inputs: grouped(4, 2, 2, 6, 1, [7, 7], 7), outputs: kPresent},
  {name: 'GroupQueryAttention token of lengths', attributes: groups(6, 2), inputs: grouped(6, 2, 3, 7, 1, [8, 3, 5], 8), outputs: kPresent},
  {name: 'GroupQueryAttention token into a buffer', attributes: groups(4, 4), inputs: grouped(4, 4, 2, 12, 1, [7, 4], 7), outputs: kPresent},
  {name: 'GroupQueryAttention full buffer', attributes: groups(4, 1), inputs: grouped(4, 1, 1, 8, 1, [8], 8), outputs: kPresent},
  {name: 'GroupQueryAttention second prompt', attributes: groups(4, 2), inputs: grouped(4, 2, 1, 6, 3, [9], 9), outputs: kPresent},
  {name: 'GroupQueryAttention window', attributes: groups(4, 2, {local_window_size: 3}), inputs: grouped(4, 2, 1, null, 8, [8], 8), outputs: kPresent},
  {name: 'GroupQueryAttention window of a token', attributes: groups(4, 2, {local_window_size: 3}), inputs: grouped(4, 2, 2, 8, 1, [9, 6], 9), outputs: kPresent},
  {name: 'GroupQueryAttention softcap and scale', attributes: groups(4, 2, {softcap: float(2), scale: float(0.7)}), inputs: grouped(4, 2, 1, 4, 2, [6], 6), outputs: kPresent},
  {name: 'GroupQueryAttention turned prompt', attributes: groups(4, 2, turned), inputs: grouped(4, 2, 2, null, 5, [5, 5], 5, caches(12)), outputs: kPresent},
  {name: 'GroupQueryAttention turned token', attributes: groups(4, 2, turned), inputs: grouped(4, 2, 2, 10, 1, [8, 5], 8, caches(12)), outputs: kPresent},
  {name: 'GroupQueryAttention turned in pairs', attributes: groups(4, 2, {...turned, rotary_interleaved: 1}), inputs: grouped(4, 2, 1, 4, 3, [7], 7, caches(12)), outputs: kPresent},
  {
    name: 'GroupQueryAttention position_ids', attributes: groups(4, 2, turned),
    inputs: grouped(4, 2, 2, 6, 1, [7, 7], 7, [...caches(12), i64([2, 1], [3, 9])]), outputs: kPresent,
  },
  {
    name: 'GroupQueryAttention position_ids of a prompt', attributes: groups(4, 2, turned),
    inputs: grouped(4, 2, 2, null, 3, [3, 3], 3, [...caches(12), i64([2, 3], [2, 7, 1, 5, 4, 8])]), outputs: kPresent,
  },
  {
    name: 'GroupQueryAttention attention_bias', attributes: groups(4, 2),
    inputs: grouped(4, 2, 2, 6, 1, [7, 7], 7, [null, null, null, f32([2, 1, 1, 7], 3)]), outputs: kPresent,
  },
  {
    name: 'GroupQueryAttention packed', attributes: groups(4, 2),
    inputs: [f32([2, 5, 128]), null, null, null, null, i32([2], [4, 4]), i32([], [5])], outputs: kPresent,
  },
  {
    name: 'GroupQueryAttention packed and turned', attributes: groups(4, 2, turned),
    inputs: [f32([1, 1, 128]), null, null, f32([1, 2, 6, 16]), f32([1, 2, 6, 16]), i32([1], [6]), i32([1], [7]), ...caches(9)], outputs: kPresent,
  },
  {name: 'GroupQueryAttention in both directions', attributes: groups(4, 2, {causal: 0}), inputs: grouped(4, 2, 1, 4, 3, [7], 7), outputs: kPresent},
  {name: 'GroupQueryAttention long', attributes: groups(8, 2, {...turned, local_window_size: 100}), inputs: grouped(8, 2, 1, 600, 67, [389], 389, caches(400)), outputs: kPresent},
  {
    name: 'GroupQueryAttention part of a head turned', attributes: groups(2, 1, turned),
    inputs: [f32([1, 3, 64]), f32([1, 3, 32]), f32([1, 3, 32]), f32([1, 1, 2, 32]), f32([1, 1, 2, 32]), i32([1], [4]), i32([1], [5]), ...caches(6)],
    outputs: kPresent,
  },
  {
    name: 'GroupQueryAttention caches that are no constants', attributes: groups(4, 2, turned),
    inputs: grouped(4, 2, 2, 10, 1, [8, 5], 8, [f32([12, 8]), f32([12, 8])]), outputs: kPresent,
  },
  ...[1, 0].map((interleaved) => ({
    name: `GroupQueryAttention part of a head turned by caches that are no constants${interleaved ? ', in pairs' : ''}`,
    attributes: groups(2, 1, {...turned, rotary_interleaved: interleaved}),
    inputs: [f32([2, 3, 64]), f32([2, 3, 32]), f32([2, 3, 32]), null, null, i32([2], [2, 2]), i32([1], [3]), f32([9, 8]), f32([9, 8])],
    outputs: kPresent,
  })),
  {
    name: 'GroupQueryAttention smooth_softmax off', attributes: groups(4, 2, {smooth_softmax: -1, qk_output: 0}),
    inputs: grouped(4, 2, 2, null, 5, [5, 5], 5), outputs: kPresent,
  },
  {name: 'GroupQueryAttention smooth_softmax', attributes: groups(4, 2, {smooth_softmax: 1}), inputs: grouped(4, 2, 2, null, 5, [5, 5], 5), outputs: kPresent},
  {
    name: 'GroupQueryAttention smooth_softmax of tokens, a window', attributes: groups(4, 2, {smooth_softmax: 1, local_window_size: 3}),
    inputs: grouped(4, 2, 2, 8, 1, [9, 6], 9), outputs: kPresent,
  },
  {name: 'GroupQueryAttention head_sink', attributes: groups(4, 2), inputs: grouped(4, 2, 2, null, 5, [5, 5], 5, [...sinks(4)]), outputs: kPresent},
  {
    name: 'GroupQueryAttention head_sink of tokens, window, softcap, scale',
    attributes: groups(4, 2, {local_window_size: 4, softcap: float(1.5), scale: float(0.7)}),
    inputs: grouped(4, 2, 3, 8, 1, [9, 6, 2], 9, [...sinks(4)]), outputs: kPresent,
  },
  {
    name: 'GroupQueryAttention head_sink and smooth_softmax, turned', attributes: groups(4, 1, {...turned, smooth_softmax: 1}),
    inputs: grouped(4, 1, 1, 6, 3, [9], 9, [...caches(12), ...sinks(4).slice(2)]), outputs: kPresent,
  },
  {
    name: 'GroupQueryAttention head_sink and attention_bias', attributes: groups(4, 2, {softcap: float(2)}),
    inputs: grouped(4, 2, 2, 6, 1, [7, 7], 7, [null, null, null, f32([2, 1, 1, 7], 3), constant(f32([4], 3))]), outputs: kPresent,
  },
  {
    name: 'GroupQueryAttention head_sink f16', attributes: groups(4, 2),
    inputs: [f16([1, 3, 64]), f16([1, 3, 32]), f16([1, 3, 32]), f16([1, 2, 4, 16]), f16([1, 2, 4, 16]), i32([1], [6]), i32([1], [7]), null, null, null, null, f16([4], 2)],
    outputs: kPresent, bounds: kHalf,
  },
  {
    name: 'GroupQueryAttention softcap and window', attributes: groups(4, 2, {softcap: float(0.8), local_window_size: 2, scale: float(0.4)}),
    inputs: grouped(4, 2, 1, 4, 3, [7], 7), outputs: kPresent,
  },
  {
    name: 'GroupQueryAttention f16', attributes: groups(4, 2, turned),
    inputs: [f16([1, 3, 64]), f16([1, 3, 32]), f16([1, 3, 32]), f16([1, 2, 4, 16]), f16([1, 2, 4, 16]), i32([1], [6]), i32([1], [7]), constant(f16([9, 8])), constant(f16([9, 8]))],
    outputs: kPresent, bounds: kHalf,
  },
];

const kRotary = [
  {name: 'RotaryEmbedding', inputs: [f32([2, 5, 32]), i64([1], [0]), ...caches(9, 4)]},
  {name: 'RotaryEmbedding offset', inputs: [f32([2, 5, 32]), i64([1], [3]), ...caches(9, 4)]},
  {name: 'RotaryEmbedding positions', attributes: {interleaved: 1}, inputs: [f32([2, 3, 32]), i64([2, 3], [0, 5, 2, 8, 1, 1]), ...caches(9, 4)]},
  {name: 'RotaryEmbedding by heads', inputs: [f32([2, 4, 5, 8]), i64([2, 5], [0, 1, 2, 3, 4, 8, 7, 6, 5, 4]), ...caches(9, 4)]},
  {name: 'RotaryEmbedding part of a head', attributes: {num_heads: 2, rotary_embedding_dim: 8}, inputs: [f32([2, 3, 32]), i64([1], [2]), ...caches(9, 4)]},
  {name: 'RotaryEmbedding caches that are no constants', inputs: [f32([1, 3, 32]), i64([1], [2]), f32([9, 8]), f32([9, 8])]},
  {name: 'RotaryEmbedding f16', inputs: [f16([2, 3, 32]), i64([1], [2]), constant(f16([9, 8])), constant(f16([9, 8]))], bounds: kHalf},
];

const projected = (batch, tokens, from, size, more = []) =>
    [f32([batch, tokens, from]), constant(f32([from, 3 * size], 0.5)), constant(f32([3 * size])), ...more];
const kAttention = [
  {name: 'Attention', attributes: heads(4), inputs: projected(2, 5, 24, 32)},
  {name: 'Attention causal', attributes: heads(2, {unidirectional: 1, scale: float(0.5)}), inputs: projected(2, 5, 24, 16)},
  {
    name: 'Attention qkv_hidden_sizes', attributes: heads(2, {qkv_hidden_sizes: [16, 16, 24]}),
    inputs: [f32([2, 5, 12]), constant(f32([12, 56])), constant(f32([56]))],
  },
  {name: 'Attention mask of lengths', attributes: heads(2), inputs: projected(3, 4, 12, 16, [i32([3], [4, 1, 3])])},
  {name: 'Attention mask of ends and starts', attributes: heads(2), inputs: projected(3, 4, 12, 16, [i32([6], [4, 3, 2, 1, 0, 1])])},
  {
    name: 'Attention mask of ends and starts, causal, with past', attributes: heads(2, {unidirectional: 1}),
    inputs: projected(2, 3, 12, 16, [i32([4], [7, 6, 2, 0]), f32([2, 2, 2, 4, 8])]), outputs: ['y', 'present'],
  },
  {name: 'Attention mask of ends and starts of one sample', attributes: heads(2), inputs: projected(1, 4, 12, 16, [i32([2], [3, 1])])},
  {name: 'Attention mask of lengths and starts', attributes: heads(2), inputs: projected(2, 4, 12, 16, [i32([8], [4, 2, 0, 4, 8, 0, 4, 6])])},
  {name: 'Attention dummy mask of 0', attributes: heads(2), inputs: projected(2, 3, 12, 16, [i32([2, 1], [0, 0])])},
  {name: 'Attention mask of keys', attributes: heads(2), inputs: projected(2, 3, 12, 16, [i32([2, 3], [1, 0, 1, 0, 1, 1])])},
  {
    name: 'Attention mask of queries and keys, causal', attributes: heads(2, {unidirectional: 1}),
    inputs: projected(1, 3, 12, 16, [i32([1, 3, 3], [1, 1, 1, 1, 0, 1, 0, 1, 1])]),
  },
  {name: 'Attention dummy mask', attributes: heads(2), inputs: projected(2, 3, 12, 16, [i32([1, 1], [1])])},
  {
    name: 'Attention past', attributes: heads(2, {unidirectional: 1}),
    inputs: projected(2, 3, 12, 16, [i32([2, 7], [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), f32([2, 2, 2, 4, 8])]), outputs: ['y', 'present'],
  },
  {name: 'Attention present', attributes: heads(2), inputs: projected(2, 3, 12, 16), outputs: ['y', 'present']},
  {name: 'Attention attention_bias', attributes: heads(2), inputs: projected(2, 3, 12, 16, [null, null, f32([1, 2, 3, 3], 3)])},
];

const quantisedAttention = (a, b, weightScale, more = []) =>
    [a([2, 4, 12]), constant(b([12, 48])), constant(f32([48])), scaleOf(0.02), constant(weightScale), ...more];
const kQuantisedAttention = [
  {name: 'QAttention', attributes: heads(2), inputs: quantisedAttention(u8, i8, reals([], [0.01]), [null, point(u8, 120), point(i8, 3)])},
  {
    name: 'QAttention scales of columns', attributes: heads(2, {unidirectional: 1}),
    inputs: quantisedAttention(u8, u8, f32([48], 0.02), [i32([2], [4, 2]), point(u8, 120), point(u8, 130)]),
  },
  {
    name: 'QAttention mask of ends and starts', attributes: heads(2),
    inputs: quantisedAttention(u8, i8, reals([], [0.01]), [i32([4], [4, 3, 1, 0]), point(u8, 120), point(i8, 3)]),
  },
  {
    name: 'QAttention past', attributes: heads(2, {unidirectional: 1}),
    inputs: quantisedAttention(u8, i8, reals([], [0.01]), [i32([2, 7], [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), point(u8, 120), point(i8, 3), f32([2, 2, 2, 3, 8])]),
    outputs: ['y', 'present'],
  },
];

const tables = (size) => [constant(f32([20, size])), constant(f32([9, size])), constant(f32([2, size])), constant(f32([size])), constant(f32([size]))];
const kEmbeddings = [
  {name: 'EmbedLayerNormalization', attributes: {epsilon: float(1e-6)}, inputs: [below([2, 5], 20), below([2, 5], 2), ...tables(12)], outputs: ['y', 'mask_index']},
  {
    name: 'EmbedLayerNormalization mask', inputs: [below([2, 5], 20), below([2, 5], 2), ...tables(12), i32([2, 5], [1, 1, 1, 0, 0, 1, 0, 0, 2, 0])],
    outputs: ['y', 'mask_index', 'sum'],
  },
  {
    name: 'EmbedLayerNormalization without segments',
    inputs: [below([3, 4], 20), null, constant(f32([20, 12])), constant(f32([9, 12])), null, constant(f32([12])), constant(f32([12]))], outputs: ['y', 'mask_index'],
  },
  {
    name: 'EmbedLayerNormalization position_ids',
    inputs: [below([2, 5], 20), below([2, 5], 2), ...tables(12), null, i32([1, 5], [4, 0, 8, 1, 1])], outputs: ['y', 'mask_index'],
  },
];

// Typical sizes, for times: the bounds say that the same is computed.
const quantisedConv = (name, x, w, attributes) => ({
  name: `QLinearConv ${name}`, domain: '', attributes, bounds: {atol: 0, rtol: 0},
  inputs: [
    u8(x), scaleOf(0.02), point(u8, 128), constant(i8(w)), constant(reals([w[0]], Array.from({length: w[0]}, (_, i) => 0.003 + 0.00001 * i))),
    constant({...i8([w[0]]), range: [0, 0]}), scaleOf(0.9), point(u8, 120), constant({type: 'int32', dims: [w[0]], range: [-9000, 9000]})],
});
const fourBits = (rows, depth, columns) => ({
  name: `MatMulNBits ${rows} x ${depth} x ${columns}`, attributes: {K: depth, N: columns, bits: 4, block_size: 32}, bounds: {atol: 1e-2, rtol: 1e-3},
  inputs: [f32([rows, depth]), constant(u8([columns, depth / 32, 16])), constant(f32([columns * depth / 32], 0.05))],
});
const lstm = (steps, batch, size, hidden, directions) => ({
  name: `LSTM ${steps} x ${batch} x ${size} to ${directions} x ${hidden}`, domain: '', outputs: ['y', 'h', 'c'], bounds: {atol: 1e-4, rtol: 1e-3},
  attributes: {hidden_size: hidden, direction: directions === 2 ? 'bidirectional' : 'forward'},
  inputs: [f32([steps, batch, size]), constant(f32([directions, 4 * hidden, size], 0.1)), constant(f32([directions, 4 * hidden, hidden], 0.1)),
           constant(f32([directions, 8 * hidden], 0.1))],
});
const attention = (batch, heads, queries, keys, size, kvHeads = heads) => ({
  name: `Attention ${batch} x ${heads} x ${queries} x ${size}, ${keys} keys of ${kvHeads} heads`, domain: '', opset: 23, bounds: {atol: 1e-4, rtol: 1e-3},
  inputs: [f32([batch, heads, queries, size]), f32([batch, kvHeads, keys, size]), f32([batch, kvHeads, keys, size])],
});
const padded = (pad, stride = 1, group = 1) => ({pads: [pad, pad, pad, pad], strides: [stride, stride], group});

export const kTypical = [
  quantisedConv('3x3, 64, 56x56', [1, 64, 56, 56], [64, 64, 3, 3], padded(1)),
  quantisedConv('3x3, 256, 14x14', [1, 256, 14, 14], [256, 256, 3, 3], padded(1)),
  quantisedConv('3x3, 512, 7x7', [1, 512, 7, 7], [512, 512, 3, 3], padded(1)),
  quantisedConv('1x1, 256 to 64, 56x56', [1, 256, 56, 56], [64, 256, 1, 1], padded(0)),
  quantisedConv('1x1, 64 to 256, 56x56', [1, 64, 56, 56], [256, 64, 1, 1], padded(0)),
  quantisedConv('1x1, 1024 to 256, 14x14', [1, 1024, 14, 14], [256, 1024, 1, 1], padded(0)),
  quantisedConv('7x7, 3 to 64, 224x224, stride 2', [1, 3, 224, 224], [64, 3, 7, 7], padded(3, 2)),
  quantisedConv('depthwise 3x3, 96, 112x112', [1, 96, 112, 112], [96, 1, 3, 3], padded(1, 1, 96)),
  fourBits(1, 2048, 2048), fourBits(16, 2048, 2048), fourBits(1, 4096, 4096), fourBits(128, 2048, 2048),
  lstm(64, 1, 256, 256, 1), lstm(64, 8, 128, 256, 2), lstm(100, 1, 64, 64, 2),
  attention(1, 12, 384, 384, 64), attention(8, 12, 128, 128, 64), attention(1, 32, 1, 1024, 128, 8), attention(1, 8, 1024, 1024, 64),
];

export const kCases = [
  ...kActivations, ...kProducts, ...kNorms, ...kQuantised, ...kQuantisedGemm, ...kGathered, ...kComputedWeights, ...kDynamicLstm,
  ...kLinear, ...kUnaryQuantised, ...kMultiHead, ...kGroupQuery, ...kRotary, ...kAttention, ...kQuantisedAttention, ...kEmbeddings,
  ...kFloatCases];
