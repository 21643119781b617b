// The operators that hunt.mjs compares: pools, interpolation, recurrent layers, attention. hunt_cases.mjs says what an entry is.
import {constant, f32, i64, reals, u8} from './contrib_inputs.mjs';
import {entry, kBatches, kChannels, list, repeated} from './hunt_draws.mjs';
import {elementCount} from './onnx_bytes.mjs';

const kSums = {atol: 1e-4, rtol: 1e-3};
const window = (r) => {
  const kernel = r.of([2, 3, 3, 5]), stride = r.of([1, 2, 2, 3]);
  return {kernel_shape: [kernel, kernel], strides: [stride, stride], pads: repeated(4, r.chance(0.5) ? kernel >> 1 : 0)};
};
const larger = (r, size) =>
    r.within(() => [r.of(kBatches), r.of(kChannels), ...repeated(2, r.of([7, 14, 33, 56, 112]))], elementCount, 1 << 14, size);
const pool = (name, make, more = () => ({})) =>
    entry(name, (r) => ({inputs: [make(larger(r, 1 << 20))], attributes: {...window(r), ...more(r)}}));
const global = (name, make, more = {}) => entry(name, (r) => ({inputs: [make(larger(r, 1 << 21))], ...more}));
const kPools = [
  pool('MaxPool', f32, (r) => ({ceil_mode: r.int(0, 1)})),
  pool('MaxPool u8', u8),
  entry('MaxPool with indices', (r) => ({inputs: [f32(larger(r, 1 << 19))], attributes: window(r), outputs: ['y', 'indices']})),
  pool('AveragePool', f32, (r) => ({count_include_pad: r.int(0, 1)})),
  pool('LpPool', f32, (r) => ({p: r.int(1, 2)})),
  global('GlobalAveragePool', f32),
  global('GlobalMaxPool', f32),
  global('GlobalLpPool', f32),
  ...['MaxPool', 'AveragePool'].map((op) => entry(`${op} 1-d`, (r) => ({
                                                                 inputs: [f32([r.of(kBatches), r.of([3, 17, 96]), r.log(500, 6000)])],
                                                                 attributes: {kernel_shape: [r.int(2, 9)], strides: [r.int(1, 4)]}
                                                               }))),
  entry('MaxPool 3-d', (r) => ({
                         inputs: [f32([1, r.of([3, 17, 96]), ...repeated(3, r.of([7, 14, 20]))])],
                         attributes: {kernel_shape: repeated(3, r.int(2, 3)), strides: repeated(3, r.int(1, 2))}
                       })),
];

const resize = (mode, make) => (r) => {
  const x =
      r.within(() => [r.of(kBatches), r.of([1, 3, 4, 17, 96]), ...repeated(2, r.of([7, 14, 33, 56]))], elementCount, 1 << 11, 1 << 17);
  const factor = () => r.of([0.5, 1.5, 2, 2, 3]), first = factor();
  const scales = [1, 1, first, r.chance(0.7) ? first : factor()];
  const way = r.of(['half_pixel', 'asymmetric', 'align_corners', 'pytorch_half_pixel']);
  return {
    opset: 18,
    inputs: [make(x), null, constant(reals([4], scales))],
    attributes:
        {mode, coordinate_transformation_mode: way, ...(mode === 'nearest' && {nearest_mode: r.of(['floor', 'round_prefer_floor'])})},
    bounds: {atol: make === u8 ? 1 : 1e-4, rtol: 1e-3}
  };
};
const kInterpolated = [
  ...['nearest', 'linear', 'cubic'].map((mode) => entry(`Resize ${mode}`, resize(mode, f32))), entry('Resize linear u8', resize('linear', u8)), entry('Resize nearest u8', resize('nearest', u8)),
  entry('Resize antialias', (r) => ({opset: 18, inputs: [f32([1, r.of([1, 3, 17]), r.int(60, 200), r.int(60, 200)]), null, constant(reals([4], [1, 1, r.of([0.3, 0.5]), r.of([0.25, 0.5])]))], attributes: {mode: r.of(['linear', 'cubic']), antialias: 1}, bounds: kSums})),
  ...['bilinear', 'nearest', 'bicubic'].map((mode) => entry(`GridSample ${mode}`, (r) => { const n = r.of([1, 7]), side = r.of([14, 33, 56]);
    return {opset: 16, inputs: [f32([n, r.of([1, 3, 17, 96]), side, side]), f32([n, r.int(7, 40), r.int(7, 40), 2], 1.1)], attributes: {mode, padding_mode: r.of(['zeros', 'border', 'reflection']), align_corners: r.int(0, 1)}, bounds: {atol: 1e-3, rtol: 1e-2}}; })),
  entry('RoiAlign', (r) => { const n = r.int(1, 40), side = r.of([14, 33, 56]), corner = () => Math.floor(r.next() * side / 2);
    const boxes = Array.from({length: n}, () => { const [x, y] = [corner(), corner()]; return [x, y, x + 1 + corner(), y + 1 + corner()]; }).flat();
    return {inputs: [f32([1, r.of([3, 17, 96]), side, side]), reals([n, 4], boxes), i64([n], repeated(n, 0))], attributes: {output_height: 7, output_width: 7, sampling_ratio: 2, mode: r.of(['avg', 'max'])}, bounds: kSums}; }),
  entry('NonMaxSuppression', (r) => { const b = r.int(1, 2), n = r.log(100, 2000), c = r.of([1, 4, 17]);
    const boxes = Array.from({length: b * n}, () => { const [y, x] = [r.next(), r.next()]; return [y, x, y + 0.02 + 0.2 * r.next(), x + 0.02 + 0.2 * r.next()]; }).flat();
    return {inputs: [reals([b, n, 4], boxes), {type: 'float32', dims: [b, c, n], between: [0, 1]}, list([r.of([10, 100])]), constant(reals([1], [0.5])), constant(reals([1], [r.of([0, 0.5, 0.9])]))]}; }),
  entry('Col2Im', (r) => { const side = r.int(10, 40), c = r.of([1, 3, 17]), k = r.int(2, 3); return {opset: 18, inputs: [f32([r.of(kBatches), c * k * k, (side - k + 1) ** 2]), list([side, side]), list([k, k])]}; }),
];

/** Complete trees of a depth with thresholds in [-1, 1), and a target in each leaf. */
function forest(r, trees, depth, features) {
  const inner = 2 ** depth - 1, all = 2 * inner + 1, ids = Array.from({length: trees * all}, (_, i) => i);
  const isLeaf = (i) => i % all >= inner, child = (i, side) => isLeaf(i) ? 0 : 2 * (i % all) + side, leaves = ids.filter(isLeaf);
  return {
    n_targets: 1,
    nodes_treeids: ids.map((i) => Math.floor(i / all)),
    nodes_nodeids: ids.map((i) => i % all),
    nodes_featureids: ids.map(() => r.int(0, features - 1)),
    nodes_values: {floats: ids.map(() => 2 * r.next() - 1)},
    nodes_modes: {strings: ids.map((i) => isLeaf(i) ? 'LEAF' : 'BRANCH_LEQ')},
    nodes_truenodeids: ids.map((i) => child(i, 1)),
    nodes_falsenodeids: ids.map((i) => child(i, 2)),
    target_treeids: leaves.map((i) => Math.floor(i / all)),
    target_nodeids: leaves.map((i) => i % all),
    target_ids: leaves.map(() => 0),
    target_weights: {floats: leaves.map(() => r.next())}
  };
}
const kOthers = [
  entry(
      'TreeEnsembleRegressor',
      (r) => {
        const [rows, features, trees, depth] = [r.log(1, 2000), r.of([4, 17, 96]), r.log(10, 100), r.int(3, 7)];
        return {
          domain: 'ai.onnx.ml',
          inputs: [f32([rows, features])],
          attributes: forest(r, trees, depth, features),
          text: `${rows}x${features}; ${trees} trees of depth ${depth}`,
          bounds: {atol: 1e-3, rtol: 1e-3}
        };
      }),
  entry(
      'MaxUnpool',
      (r) => {
        const [n, c, side] = [r.of(kBatches), r.of([3, 17, 96]), r.of([14, 33])], total = n * c * side * side;
        const corners = Array.from({length: total}, (_, i) => Math.floor(i / side) * 4 * side + i % side * 2);
        return {inputs: [f32([n, c, side, side]), i64([n, c, side, side], corners)], attributes: {kernel_shape: [2, 2], strides: [2, 2]}};
      }),
  entry(
      'MaxRoiPool',
      (r) => {
        const side = r.of([14, 33]),
              boxes = Array.from({length: r.int(1, 40)}, () => [0, r.int(0, 5), r.int(0, 5), r.int(6, 13), r.int(6, 13)]);
        return {
          inputs: [f32([1, r.of([3, 17, 96]), side, side]), reals([boxes.length, 5], boxes.flat())],
          attributes: {pooled_shape: [7, 7]}
        };
      }),
  entry(
      'STFT',
      (r) => {
        const frame = r.of([64, 128, 400]);
        return {
          inputs: [f32([r.of(kBatches), r.int(1000, 8000), 1]), constant(i64([], [frame >> 1])), constant(f32([frame]))],
          bounds: {atol: 1e-2, rtol: 1e-3}
        };
      }),
  entry(
      'NegativeLogLikelihoodLoss',
      (r) => {
        const rows = r.log(1000, 20000), classes = r.of([4, 17, 96]);
        return {
          inputs: [f32([rows, classes]), {type: 'int64', dims: [rows], range: [0, classes - 1]}],
          attributes: {reduction: r.of(['none', 'mean', 'sum'])}
        };
      }),
  entry(
      'AffineGrid',
      (r) => {
        const n = r.of(kBatches);
        return {
          opset: 20,
          inputs: [f32([n, 2, 3]), list([n, 3, r.int(30, 150), r.int(30, 150)])],
          attributes: {align_corners: r.int(0, 1)}
        };
      }),
];

const kGates = {
  LSTM: 4,
  GRU: 3,
  RNN: 1
};
const recurrent = (op) => entry(op, (r) => {
  const gates = kGates[op],
        [steps, batch, size, hidden] = r.within(
            () => [r.int(1, 64), r.of(kBatches), r.of([4, 17, 96, 256]), r.of([4, 17, 96, 256])],
            ([t, b, i, h]) => t * b * gates * h * (i + h), 1 << 17, 1 << 26),
        directions = r.int(1, 2);
  return {
    attributes: {
      hidden_size: hidden,
      direction: directions === 2 ? 'bidirectional' : r.of(['forward', 'reverse']),
      ...(op === 'GRU' && {linear_before_reset: r.int(0, 1)})
    },
    outputs: op === 'LSTM' ? ['y', 'h', 'c'] : ['y', 'h'],
    bounds: kSums,
    inputs: [
      f32([steps, batch, size]), ...[size, hidden].map((depth) => constant(f32([directions, gates * hidden, depth], 0.1))),
      constant(f32([directions, 2 * gates * hidden], 0.1))
    ]
  };
});
const queries = (r) => {
  const keys = r.of([17, 96, 128, 384]);
  return {batch: r.of([1, 1, 7]), heads: r.of([1, 4, 12]), tokens: r.of([1, keys, keys]), keys, size: r.of([17, 32, 64, 128])};
};
const small = (r) => r.within(() => queries(r), (one) => one.batch * one.heads * one.tokens * one.keys * one.size, 1 << 17, 1 << 26);
const kLayers = [
  ...['LSTM', 'GRU', 'RNN'].map(recurrent),
  entry(
      'Attention',
      (r) => {
        const {batch, heads, tokens, keys, size} = small(r);
        return {
          opset: 23,
          inputs: [f32([batch, heads, tokens, size]), f32([batch, heads, keys, size]), f32([batch, heads, keys, size])],
          attributes: {is_causal: r.int(0, 1)},
          bounds: kSums
        };
      }),
  entry(
      'MultiHeadAttention',
      (r) => {
        const {batch, heads, tokens, keys, size} = small(r);
        return {
          domain: 'com.microsoft',
          inputs: [f32([batch, tokens, heads * size]), f32([batch, keys, heads * size]), f32([batch, keys, heads * size])],
          attributes: {num_heads: heads},
          bounds: kSums
        };
      }),
  entry(
      'RotaryEmbedding',
      (r) => {
        const [batch, heads, tokens, size] = [r.of(kBatches), r.of([1, 4, 12]), r.int(7, 300), r.of([32, 64, 128])];
        return {
          opset: 23,
          inputs: [
            f32([batch, heads, tokens, size]), f32([512, size / 2]), f32([512, size / 2]),
            {type: 'int64', dims: [batch, tokens], range: [0, 511]}
          ],
          attributes: {interleaved: r.int(0, 1)}
        };
      }),
];

export const kLayerEntries = [...kPools, ...kInterpolated, ...kOthers, ...kLayers];
