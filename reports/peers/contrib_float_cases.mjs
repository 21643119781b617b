// Cases of contrib.mjs for the operators of com.microsoft that compute with floats, and for those that are operators of ONNX
// under another domain. contrib_cases.mjs says what a case is.
import {below, constant, f16, f32, f64, float, i32, i64, i8, kHalf, reals, u8} from './contrib_inputs.mjs';

// [a, b, attributes]: operands without axes to exchange, batch axes of other ranks, batch axes between the others. Before a
// list ONNX Runtime 1.30 takes the memory of a transposed matrix for the untransposed one, so there is no such case.
const kOperands = [
  [[5], [5], {transA: 1}], [[5], [5], {transB: 1}], [[5], [5, 3], {transA: 1}], [[5], [3, 5], {transA: 1, transB: 1}], [[3, 5], [5], {transB: 1}],
  [[5], [2, 3, 5], {transB: 1}], [[2, 3, 5], [5], {transB: 1}], [[4, 2, 5, 3], [2, 5, 6], {transA: 1}],
  [[1, 5, 3], [4, 1, 6, 5], {transA: 1, transB: 1}], [[3, 2, 5], [2, 5, 4], {transBatchA: 1}], [[2, 3, 5], [5, 2, 4], {transBatchB: 1}],
  [[5, 2, 3], [2, 5, 4], {transA: 1, transBatchA: 1}], [[3, 6, 2, 5], [5, 6, 2, 4], {transBatchA: 1, transBatchB: 1}],
  [[5, 6, 2, 3], [4, 6, 2, 5], {transA: 1, transB: 1, transBatchA: 1, transBatchB: 1}],
];
const kProducts = [
  ...kOperands.map(([a, b, flags]) => ({
    name: `FusedMatMul ${a.join(' x ')} by ${b.join(' x ')} ${Object.keys(flags).join(' ')}`, attributes: {...flags, alpha: float(1.5)}, inputs: [f32(a), f32(b)],
  })),
  {name: 'FusedMatMul of a constant list', attributes: {transB: 1}, inputs: [f32([3, 5]), constant(f32([5]))]},
  {name: 'FusedMatMul f64', attributes: {transA: 1, alpha: float(0.3)}, inputs: [f64([5, 3]), f64([5, 3])]},
  {name: 'FusedMatMul f16', attributes: {transA: 1, alpha: float(0.3)}, inputs: [f16([5]), f16([5, 3])], bounds: kHalf},
  {name: 'FusedMatMul defaults', attributes: {transA: 0, transB: 0, transBatchA: 0, transBatchB: 0, alpha: float(1)}, inputs: [f32([3, 5]), f32([5, 3])]},
  {name: 'TransposeMatMul lists', attributes: {transA: 1, transB: 1}, inputs: [f32([5]), f32([3, 5])]},
];

const kActivations = [
  ['Tanh'], ['Sigmoid'], ['Softplus'], ['Softsign'], ['Elu', {alpha: 0.7}], ['Celu', {alpha: 0.5}], ['Selu', {alpha: 1.5, gamma: 1.2}],
  ['ThresholdedRelu', {alpha: 0.4}], ['HardSigmoid', {alpha: 0.3, beta: 0.4}], ['ParametricSoftplus', {alpha: 0.6, beta: 1.4}],
  ['ScaledTanh', {alpha: 1.3, beta: 0.7}],
].map(([activation, parameters = {}]) => ({
  name: `FusedGemm ${activation}`, inputs: [f32([3, 5], 2), f32([5, 4]), f32([4])],
  attributes: {activation, ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [`activation_${name}`, float(value)]))},
}));
const kConvActivations = [['Tanh'], ['Sigmoid'], ['HardSwish'], ['LeakyRelu', [0.1]], ['HardSigmoid', [0.3, 0.4]]].map(([activation, floats]) => ({
  name: `FusedConv ${activation}`, attributes: {activation, ...(floats && {activation_params: {floats}})},
  inputs: [f32([2, 3, 6, 5], 2), constant(f32([4, 3, 3, 2])), constant(f32([4]))],
}));
const kConvs = [
  {
    name: 'FusedGemm defaults', inputs: [f32([3, 5], 2), f32([5, 4]), f32([3, 1])],
    attributes: {
      activation: 'Relu', alpha: float(1), beta: float(1), transA: 0, transB: 0, activation_alpha: float(0), activation_beta: float(0),
      activation_gamma: float(0),
    },
  },
  {
    name: 'FusedConv groups of rows with a sum', attributes: {group: 2, activation: 'Sigmoid', auto_pad: 'SAME_LOWER', strides: [2]},
    inputs: [f32([2, 4, 9], 2), constant(f32([6, 2, 4])), null, f32([2, 6, 5])],
  },
  {name: 'FusedConv of volumes', attributes: {activation: 'Tanh', dilations: [1, 2, 1]}, inputs: [f32([1, 2, 4, 5, 3]), constant(f32([3, 2, 2, 2, 2]))]},
];

const kStatistics = ['y', 'mean', 'inverse', 'sum'];
const kNorms = [
  {name: 'SkipLayerNormalization of one sample', inputs: [f32([2, 3, 16]), f32([1, 3, 16]), f32([16]), f32([16])], outputs: kStatistics},
  {name: 'SkipLayerNormalization without batch', inputs: [f32([2, 3, 16]), f32([3, 16]), f32([16]), f32([16]), f32([16])], outputs: kStatistics},
  {name: 'SkipLayerNormalization rank 2', inputs: [f32([3, 16]), f32([3, 16]), f32([16])], outputs: ['y', '', 'inverse']},
  {name: 'SkipLayerNormalization f16', inputs: [f16([2, 3, 16]), f16([3, 16]), f16([16]), null, f16([16])], outputs: kStatistics, bounds: kHalf},
  {name: 'SkipSimplifiedLayerNormalization of small values', inputs: [f32([2, 3, 16], 1e-3), f32([3, 16], 1e-3), f32([16])], outputs: kStatistics},
  {name: 'SkipSimplifiedLayerNormalization epsilon', attributes: {epsilon: float(1e-2)}, inputs: [f32([2, 3, 16]), f32([1, 3, 16]), f32([16]), f32([16])]},
  {name: 'SimplifiedLayerNormalization statistics', domain: '', inputs: [f32([2, 3, 16], 1e-3), f32([16])], outputs: ['y', 'inverse']},
  {
    name: 'SimplifiedLayerNormalization axis', domain: '', attributes: {axis: 1, epsilon: float(0.1), stash_type: 1}, inputs: [f32([2, 3, 16]), f32([3, 16])],
    outputs: ['y', 'inverse'],
  },
  {name: 'SimplifiedLayerNormalization f16', domain: '', inputs: [f16([2, 3, 16]), f16([16])], outputs: ['y', 'inverse'], bounds: kHalf},
  {name: 'SimplifiedLayerNormalization f64', domain: '', inputs: [f64([2, 3, 16]), f64([16])], outputs: ['y', 'inverse']},
  {name: 'SimplifiedLayerNormalization of halves by floats', domain: '', inputs: [f16([2, 3, 16]), f32([16])], bounds: kHalf},
  {name: 'GatedRMSNorm', inputs: [f32([2, 3, 16], 1e-2), f32([4]), f32([2, 3, 16], 4)]},
  {name: 'GatedRMSNorm f16', attributes: {epsilon: float(0.5)}, inputs: [f16([5, 8]), f16([8]), f16([5, 8])], bounds: kHalf},
];

const tables = (size) => [constant(f32([20, size])), constant(f32([9, size])), constant(f32([2, size])), constant(f32([size])), constant(f32([size]))];
const kEmbeddings = [
  {name: 'EmbedLayerNormalization position_ids of samples', inputs: [below([2, 5], 20), below([2, 5], 2), ...tables(12), null, below([2, 5], 9)], outputs: ['y', 'm', 's']},
  {
    name: 'EmbedLayerNormalization mask_index_type 0', attributes: {mask_index_type: 0, epsilon: float(0.5)},
    inputs: [below([2, 5], 20), below([2, 5], 2), ...tables(12), i32([2, 5], [1, 1, 1, 0, 0, 1, 0, 1, 1, 0])], outputs: ['y', 'm', 's'],
  },
  {name: 'EmbedLayerNormalization table without segments', inputs: [below([2, 5], 20), null, ...tables(12)], outputs: ['y', 'm', 's']},
];

const caches = (positions, pairs) => [constant(f32([positions, pairs])), constant(f32([positions, pairs]))];
const kRotary = [
  {name: 'RotaryEmbedding scale', attributes: {scale: float(2)}, inputs: [f32([2, 5, 32]), i64([1], [1]), ...caches(9, 4)]},
  {
    name: 'RotaryEmbedding packed, more tokens than positions', attributes: {is_packed_batching: 1},
    inputs: [f32([1, 12, 32]), i64([1, 12], [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]), ...caches(9, 4)],
  },
  {
    name: 'RotaryEmbedding defaults', attributes: {is_packed_batching: 0, scale: float(1), interleaved: 0, num_heads: 0, rotary_embedding_dim: 0},
    inputs: [f32([2, 5, 32]), i64([], [1]), ...caches(9, 4)],
  },
  {
    name: 'RotaryEmbedding part of a head by heads', attributes: {num_heads: 4, rotary_embedding_dim: 4, interleaved: 1},
    inputs: [f32([2, 4, 5, 8]), i64([2, 5], [0, 1, 2, 3, 4, 8, 7, 6, 5, 4]), ...caches(9, 2)],
  },
];

const grid = (attributes) => ({
  name: `GridSample ${Object.values(attributes).join(' ')}`, attributes, inputs: [f32([2, 3, 5, 4]), f32([2, 3, 6, 2], 1.4)], bounds: {atol: 1e-5, rtol: 1e-4},
});
const kTensors = [
  {name: 'GatedAdd', inputs: [f32([2, 3, 5]), f32([2, 3, 5]), f32([2, 3, 1])]},
  {name: 'CDist', inputs: [f32([4, 7]), f32([3, 7])]},
  {name: 'CDist euclidean', attributes: {metric: 'euclidean'}, inputs: [f32([4, 7], 3), f32([3, 7])]},
  {name: 'CDist f64', attributes: {metric: 'sqeuclidean'}, inputs: [f64([4, 7]), f64([3, 7])]},
  {name: 'ExpandDims', inputs: [f32([2, 3]), i32([], [1])]},
  {name: 'ExpandDims from the end', inputs: [f32([2, 3]), i32([1], [-3])]},
  {name: 'UnfoldTensor', attributes: {size: 3}, inputs: [f32([2, 6])]},
  {name: 'UnfoldTensor from the front', attributes: {size: 2, dim: 1, step: 3}, inputs: [f32([2, 6, 3, 2])]},
  {name: 'UnfoldTensor from the end', attributes: {size: 2, dim: -3, step: 2}, inputs: [i64([3, 5, 2, 1], Array.from({length: 30}, (_, i) => i))]},
  {name: 'Pad', inputs: [f32([2, 3]), i64([4], [0, 1, 1, -1]), constant(reals([1], [9]))]},
  {name: 'Pad a row of pads', attributes: {mode: 'reflect'}, inputs: [f32([2, 3]), i64([1, 4], [0, 1, 1, 0])]},
  {name: 'Pad wrap', attributes: {mode: 'wrap'}, inputs: [f32([2, 3]), constant(i64([4], [0, 1, 1, 0]))]},
  {name: 'Pad wrap of a cropped axis', attributes: {mode: 'wrap'}, inputs: [f32([4, 5]), i64([4], [-1, 2, 2, -1])]},
  {name: 'Unique', inputs: [reals([6], [2, 1, 1, 3, 4, 3])], outputs: ['y', 'idx', 'counts']},
  {name: 'Unique of nothing', inputs: [reals([0], [])], outputs: ['y', 'idx', 'counts']},
  {name: 'Trilu', inputs: [f32([2, 3])]},
  {name: 'Trilu lower', attributes: {upper: 0}, inputs: [f32([2, 4, 3]), i64([1], [-1])]},
  {name: 'Trilu of integers', inputs: [i64([2, 3], [1, 2, 3, 4, 5, 6]), i64([], [1])]},
  {name: 'Range', inputs: [reals([], [1]), reals([], [4]), reals([], [0.5])]},
  {name: 'Range without step', inputs: [reals([1], [1]), reals([1], [4.5])]},
  {name: 'Range of integers', inputs: [i32([], [9]), i32([], [1]), i32([], [-3])]},
  {name: 'GatherND', inputs: [f32([2, 3, 4]), i64([2, 1], [1, 0])]},
  {name: 'GatherND from the end', inputs: [f32([2, 3]), i32([2, 2], [1, 0, -1, -2])]},
  grid({}), grid({mode: 'bilinear', padding_mode: 'border', align_corners: 1}), grid({mode: 'nearest', padding_mode: 'reflection'}),
  grid({mode: 'bicubic', padding_mode: 'zeros', align_corners: 0}),
  {name: 'NhwcMaxPool', attributes: {kernel_shape: [2, 2]}, inputs: [u8([2, 5, 4, 3])]},
  {
    name: 'NhwcMaxPool i8', inputs: [i8([1, 6, 7, 3])],
    attributes: {kernel_shape: [3, 2], pads: [1, 0, 1, 1], strides: [2, 2], dilations: [2, 1], ceil_mode: 1, auto_pad: 'NOTSET'},
  },
  {name: 'NhwcMaxPool of rows', attributes: {kernel_shape: [3], auto_pad: 'SAME_LOWER', strides: [2]}, inputs: [u8([2, 8, 3])]},
  {name: 'NhwcMaxPool of volumes', attributes: {kernel_shape: [2, 1, 2]}, inputs: [u8([1, 3, 2, 4, 3])]},
];

export const kFloatCases = [...kProducts, ...kActivations, ...kConvActivations, ...kConvs, ...kNorms, ...kEmbeddings, ...kRotary, ...kTensors];
