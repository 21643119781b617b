// The operators that hunt.mjs compares: those of elements, reductions and norms, then all tables. An entry is {name, draw}; its
// operator is the first word of the name. draw(r) takes Draws and gives a case {inputs, attributes, outputs, domain, opset,
// bounds, text} as contrib_cases.mjs has them. `text` describes the shapes where textOf would not.
import {constant, f32, f64, flags, i64, i8, reals, u8} from './contrib_inputs.mjs';
import {above, entry, list, someAxes, whole, wide} from './hunt_draws.mjs';
import {kLayerEntries} from './hunt_layers.mjs';
import {kMoveEntries} from './hunt_moves.mjs';
import {kProductEntries} from './hunt_products.mjs';
import {kQuantisedEntries} from './hunt_quantised.mjs';

const kMicrosoft = {domain: 'com.microsoft'};
const narrow = whole('int32', -1000, 1000), positive = whole('int64', 1, 1000);

// Of one input.
const unary = (name, make, more = {}) => entry(name, (r) => ({inputs: [make(r.shape())], ...more}));
const around = (dims) => f32(dims, 4);
const kUnary = [
  ...['Relu', 'Sigmoid', 'Tanh', 'Exp', 'Erf', 'LeakyRelu', 'HardSwish', 'HardSigmoid', 'Abs', 'Neg', 'Floor', 'Ceil', 'Round', 'Elu',
      'Selu', 'Celu', 'Softplus', 'Softsign', 'Sin', 'Cos', 'Tan', 'Atan', 'Sinh', 'Sign', 'ThresholdedRelu', 'Reciprocal', 'Asinh', 'Cosh', 'Shrink']
      .map((op) => unary(op, around)),
  unary('Sqrt', above), unary('Log', above), unary('Asin', f32),
  unary('Acosh', (dims) => above(dims, 1, 9)),
  unary('BitwiseNot', whole('int32', -1000, 1000), {opset: 18}), unary('Acos', f32), unary('Atanh', (dims) => f32(dims, 0.9)),
  unary('Mish', around, {opset: 18}), unary('Gelu', around, {opset: 20}), unary('Gelu tanh', around, {opset: 20, attributes: {approximate: 'tanh'}}),
  unary('FastGelu', around, kMicrosoft), unary('QuickGelu', around, kMicrosoft), unary('IsNaN', around), unary('IsInf', around),
  unary('Not', flags), unary('Abs i64', wide), unary('Neg i64', wide), unary('Relu i8', i8, {opset: 14}), unary('Sign i64', wide), unary('Exp f64', f64),
  entry('Clip', (r) => ({inputs: [around(r.shape()), constant(reals([], [-1])), constant(reals([], [2]))]})),
  entry('Clip u8', (r) => ({inputs: [u8(r.shape()), constant({...u8([]), values: [9]}), constant({...u8([]), values: [99]})]})),
  entry('BiasGelu', (r) => { const dims = r.shape(1 << 15, 1 << 20, r.int(2, 3)); return {...kMicrosoft, inputs: [f32(dims, 4), constant(f32([dims.at(-1)]))]}; }),
];

/** Two shapes that broadcast: equal, a scalar, a row, channels, a column, an outer product. */
function pair(r) {
  const dims = r.shape(1 << 15, 1 << 20), kind = r.int(0, 6);
  const only = (keep) => dims.map((extent, i) => keep(i) ? extent : 1);
  const other = [dims, [], [dims.at(-1)], only((i) => i === 1), only((i) => i === 0), only(() => r.chance(0.5)), dims.slice(1)][kind];
  if (kind === 5 && r.chance(0.5)) return [dims.map((extent, i) => other[i] === 1 ? extent : 1), other];
  return r.chance(0.2) ? [other, dims] : [dims, other];
}
const binary = (name, make, second = make, more = {}) => entry(name, (r) => {
  const [a, b] = pair(r);
  return {inputs: [make(a), second(b)], ...more};
});
const both = (op) => [binary(op, f32), binary(`${op} i64`, wide, positive)];
const bytes = whole('uint32', 0, 4e9), amounts = whole('uint32', 0, 31);
const kBinary = [
  ...['Add', 'Sub', 'Mul', 'Div', 'Min', 'Max', 'Equal', 'Less', 'GreaterOrEqual'].flatMap(both),
  binary('Add i32', narrow),
  binary('Mul i32', narrow),
  binary('Add f64', f64),
  binary('Greater', f32),
  binary('LessOrEqual', f32),
  binary('And', flags),
  binary('Or', flags),
  binary('Xor', flags),
  binary('Equal bool', flags),
  binary('Pow', above, (dims) => above(dims, -2, 2)),
  binary('Mod i64', wide, positive),
  binary('Mod fmod', (dims) => f32(dims, 9), (dims) => above(dims, 0.5, 3), {attributes: {fmod: 1}}),
  binary('BitShift', bytes, amounts, {attributes: {direction: 'LEFT'}}),
  ...['BitwiseAnd', 'BitwiseOr', 'BitwiseXor'].map((op) => binary(op, bytes, bytes, {opset: 18})),
  entry(
      'Pow square',
      (r) => {
        const power = r.of([2, 3, 0.5, -1]), make = Number.isInteger(power) && power > 0 ? f32 : above;
        return {inputs: [make(r.shape()), constant(reals([], [power]))]};
      }),
  entry(
      'PRelu',
      (r) => {
        const dims = r.maps();
        return {inputs: [f32(dims), constant(f32(r.of([[dims[1], 1, 1], [1], dims.slice(1)])))]};
      }),
  entry(
      'Where',
      (r) => {
        const [a, b] = pair(r);
        return {inputs: r.of([[flags(a), f32(b), f32(a)], [flags(b), f32(a), f32(a)], [flags(a), f32(a), f32([])]])};
      }),
  entry(
      'Where i64',
      (r) => {
        const [a, b] = pair(r);
        return {inputs: [flags(b), wide(a), wide(r.of([[], b]))]};
      }),
  ...['Sum', 'Mean', 'Max'].map(
      (op) => entry(
          `${op} of three`,
          (r) => {
            const [a, b] = pair(r);
            return {inputs: [f32(a), f32(b), f32(a)]};
          })),
];


// Reductions, what runs along an axis, norms.
const reduce = (name, make) => entry(name, (r) => {
  const dims = r.shape(1 << 15, 1 << 20, r.int(2, 4));
  return {inputs: [make(dims), list(someAxes(r, dims))], attributes: {keepdims: r.int(0, 1)}, opset: 18, bounds: {atol: 1e-4, rtol: 1e-3}};
});
const along = (name, make, more = () => ({})) => entry(name, (r) => {
  const dims = r.shape(1 << 15, 1 << 20, r.int(2, 4)), axis = r.int(0, dims.length - 1);
  return {inputs: [make(dims)], attributes: {axis}, ...more(r, dims, axis)};
});
const kReduce = [
  ...['ReduceSum', 'ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceL1', 'ReduceL2', 'ReduceSumSquare', 'ReduceLogSumExp'].map((op) => reduce(op, f32)),
  reduce('ReduceProd', (dims) => above(dims, 0.9999, 1.0001)), reduce('ReduceLogSum', above), reduce('ReduceSum i64', wide), reduce('ReduceMax i64', wide), reduce('ReduceMax u8', u8),
  ...['ArgMax', 'ArgMin'].map((op) => along(op, f32, (r, dims, axis) => ({attributes: {axis, keepdims: r.int(0, 1)}}))), along('ArgMax u8', u8), along('ArgMax i64', wide),
  entry('TopK', (r) => { const dims = r.shape(1 << 14, 1 << 19, r.int(1, 3)), axis = r.int(0, dims.length - 1);
    return {inputs: [f32(dims), list([Math.min(dims[axis], r.of([1, 5, 10, 100, 1000]))])], attributes: {axis, largest: r.int(0, 1)}, outputs: ['y', 'indices']}; }),
  ...[['CumSum', f32], ['CumSum i64', wide]].map(([name, make]) => along(name, make, (r, dims, axis) => ({
    inputs: [make(dims), constant(i64([], [axis]))], attributes: {reverse: r.int(0, 1), exclusive: r.int(0, 1)}, bounds: {atol: 2e-3, rtol: 1e-3}}))),
  along('Softmax', around), along('LogSoftmax', around), along('Hardmax', f32), along('LpNormalization', f32),
];

const kNorms = [
  entry(
      'LayerNormalization',
      (r) => {
        const dims = r.shape(1 << 15, 1 << 20, r.int(2, 4)), axis = r.int(1, dims.length - 1);
        return {inputs: [f32(dims), constant(f32(dims.slice(axis))), constant(f32(dims.slice(axis)))], attributes: {axis}};
      }),
  entry(
      'RMSNormalization',
      (r) => {
        const dims = r.shape(1 << 15, 1 << 20, r.int(2, 3));
        return {opset: 23, inputs: [f32(dims), constant(f32([dims.at(-1)]))], attributes: {axis: -1}};
      }),
  entry(
      'SkipLayerNormalization',
      (r) => {
        const hidden = r.of([17, 96, 256, 768, 1152]), dims = [r.of([1, 7]), r.int(1, 200), hidden];
        return {...kMicrosoft, inputs: [f32(dims), f32(dims), ...[1, 2, 3].map(() => constant(f32([hidden])))]};
      }),
  entry(
      'InstanceNormalization',
      (r) => {
        const dims = r.maps();
        return {inputs: [f32(dims), constant(f32([dims[1]])), constant(f32([dims[1]]))]};
      }),
  entry(
      'BatchNormalization',
      (r) => {
        const dims = r.of([r.maps(), r.shape(1 << 15, 1 << 20, 3)]), row = [dims[1]];
        return {inputs: [f32(dims), constant(f32(row)), constant(f32(row)), constant(f32(row)), constant(above(row))]};
      }),
  entry(
      'GroupNormalization',
      (r) => {
        const dims = r.maps(), row = [dims[1]], counts = [1, 2, 4, 8, 17, 32].filter((one) => dims[1] % one === 0);
        return {opset: 21, inputs: [f32(dims), constant(f32(row)), constant(f32(row))], attributes: {num_groups: r.of(counts)}};
      }),
  entry('LRN', (r) => ({inputs: [f32(r.maps(1 << 14, 1 << 19))], attributes: {size: r.of([3, 5, 7])}})),
  entry('MeanVarianceNormalization', (r) => ({inputs: [f32(r.maps())]})),
];

export const kEntries =
    [...kUnary, ...kBinary, ...kReduce, ...kNorms, ...kMoveEntries, ...kProductEntries, ...kLayerEntries, ...kQuantisedEntries];
