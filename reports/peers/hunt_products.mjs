// The operators that hunt.mjs compares: convolutions and products. hunt_cases.mjs says what an entry is.
import {constant, f32, float, u8} from './contrib_inputs.mjs';
import {entry, kBatches, kChannels, kMaps, repeated} from './hunt_draws.mjs';
import {elementCount} from './onnx_bytes.mjs';

const kSums = {atol: 1e-4, rtol: 1e-3};  // bounds of long sums of values in [-1, 1), whose weights are drawn below 0.2
const weights = (dims) => constant(f32(dims, 0.2));

/** A convolution {x, w, attributes} whose multiply-adds lie between 2^19 and 2^27. `form` fixes kernel, rank, group. */
export function drawConv(r, form) {
  const {rank = 2, strides = [1], dilations = [1], grouped, depthwise} = form;
  const outOf = (one) =>
      one.x.slice(2).map((extent, i) => Math.floor((extent + 2 * one.pad - ((one.kernel - 1) * one.dilation + 1)) / one.stride) + 1);
  const make = () => {
    const kernel = r.of(form.kernels), dilation = r.of(dilations), stride = r.of(strides),
          pad = r.chance(0.8) ? (kernel - 1) * dilation >> 1 : 0;
    const group = grouped ? r.of([2, 3, 4, 8]) : 1, inner = r.of(kChannels), outer = r.of(kChannels);
    const extent = r.chance(0.75) ? r.of([...kMaps, 56]) : r.int(5, 112), channels = depthwise ? inner : group * Math.ceil(inner / group);
    const made = depthwise ? channels : group * Math.ceil(outer / group), groups = depthwise ? channels : group;
    const extents = rank === 1 ? [extent * r.of([7, 14, 33])] : repeated(rank, rank === 3 ? Math.min(extent, 20) : extent);
    return {
      x: [r.of(kBatches), channels, ...extents],
      w: [made, channels / groups, ...repeated(rank, kernel)],
      kernel,
      dilation,
      stride,
      pad,
      group: groups
    };
  };
  const work = (one) => {
    const out = outOf(one);
    return out.some((extent) => extent < 1) ? 1 : one.x[0] * elementCount(out) * elementCount(one.w);
  };
  const one = r.within(make, work, 1 << 19, 1 << 27);
  const attributes = {
    ...(one.pad && {pads: repeated(2 * rank, one.pad)}),
    ...(one.stride > 1 && {strides: repeated(rank, one.stride)}),
    ...(one.dilation > 1 && {dilations: repeated(rank, one.dilation)}),
    ...(one.group > 1 && {group: one.group})
  };
  return {x: one.x, w: one.w, attributes};
}
const conv = (name, form) => entry(`Conv ${name}`, (r) => {
  const {x, w, attributes} = drawConv(r, form);
  return {inputs: [f32(x), weights(w), ...(r.chance(0.7) ? [weights([w[0]])] : [])], attributes, bounds: kSums};
});
export const kConvForms = [
  ['1x1', {kernels: [1], strides: [1, 1, 1, 2]}], ['3x3', {kernels: [3]}], ['5x5 and 7x7', {kernels: [5, 7]}],
  ['strided', {kernels: [2, 3, 5, 7], strides: [2, 3]}], ['dilated', {kernels: [3], dilations: [2, 3]}],
  ['grouped', {kernels: [1, 3, 5], strides: [1, 1, 2], grouped: true}],
  ['depthwise', {kernels: [3, 5, 7], strides: [1, 1, 2], depthwise: true}], ['1-d', {kernels: [1, 3, 5, 9], strides: [1, 1, 2], rank: 1}]
];
const kConv = [
  ...kConvForms.map(([name, form]) => conv(name, form)), conv('depthwise 1-d', {kernels: [3, 5, 9], rank: 1, depthwise: true}),
  conv('3-d', {kernels: [1, 3], strides: [1, 1, 2], rank: 3}),
  ...[['', {kernels: [2, 3, 4], strides: [1, 2, 2]}], [' grouped', {kernels: [2, 4], strides: [2], grouped: true}], [' 1-d', {kernels: [3, 4, 16], strides: [1, 2, 4], rank: 1}]].map(([name, form]) => entry(`ConvTranspose${name}`, (r) => {
      const {x, w, attributes} = drawConv(r, form), group = attributes.group ?? 1;
      return {inputs: [f32(x), weights([x[1], w[0] / group, ...w.slice(2)])], attributes: {...attributes, pads: repeated(2 * (x.length - 2), 0)}, bounds: kSums};
    })),
];

/** Rows, depth and columns of a product: a vector, thin, or of all sides, with 2^18 to 2^27 multiply-adds. */
export const sides = (r) => r.within(() => {
  const any = () => r.chance(0.6) ? r.of([1, 3, 4, 7, 17, 96, 128, 512, 768, 1152]) : r.log(1, 2048);
  return [r.of([() => 1, () => r.int(1, 17), any])(), any(), r.of([any, any, () => r.int(1, 17)])()];
}, elementCount, 1 << 18, 1 << 27);
const kProducts = [
  entry(
      'MatMul',
      (r) => {
        const [m, k, n] = sides(r);
        return {inputs: [f32([m, k]), weights([k, n])], bounds: kSums};
      }),
  entry(
      'MatMul of inputs',
      (r) => {
        const [m, k, n] = sides(r);
        return {inputs: [f32([m, k]), f32([k, n], 0.2)], bounds: kSums};
      }),
  entry(
      'MatMul batched',
      (r) => {
        const [m, k, n] = r.within(() => sides(r), elementCount, 1 << 12, 1 << 21), batch = r.of([[7], [12], [7, 4], [1, 12]]);
        return {
          inputs: [f32([...batch, m, k]), r.of([f32([...batch, k, n], 0.2), f32([k, n], 0.2), f32([...batch.map(() => 1), k, n], 0.2)])],
          bounds: kSums
        };
      }),
  entry(
      'MatMul of vectors',
      (r) => {
        const k = r.log(64, 4096), n = r.log(64, 2048);
        return {inputs: r.of([[f32([k]), weights([k, n])], [f32([n, k]), f32([k], 0.2)]]), bounds: kSums};
      }),
  entry(
      'Gemm',
      (r) => {
        const [m, k, n] = sides(r), transA = r.int(0, 1), transB = r.int(0, 1);
        return {
          inputs: [f32(transA ? [k, m] : [m, k]), weights(transB ? [n, k] : [k, n]), constant(f32(r.of([[n], [1, n], [m, 1]])))],
          attributes: {transA, transB},
          bounds: kSums
        };
      }),
  entry(
      'Gemm of inputs',
      (r) => {
        const [m, k, n] = sides(r), transA = r.int(0, 1), transB = r.int(0, 1);
        return {
          inputs: [f32(transA ? [k, m] : [m, k]), f32(transB ? [n, k] : [k, n], 0.2)],
          attributes: {transA, transB, alpha: float(0.5)},
          bounds: kSums
        };
      }),
  entry(
      'FusedMatMul',
      (r) => {
        const [m, k, n] = r.within(() => sides(r), elementCount, 1 << 12, 1 << 22), transA = r.int(0, 1), transB = r.int(0, 1);
        return {
          domain: 'com.microsoft',
          inputs: [f32([7, ...(transA ? [k, m] : [m, k])]), f32([7, ...(transB ? [n, k] : [k, n])], 0.2)],
          attributes: {transA, transB, alpha: float(0.5)},
          bounds: kSums
        };
      }),
  entry(
      'Einsum',
      (r) => {
        const [b, h, i, j, d] = [r.int(1, 7), r.int(1, 12), r.int(3, 96), r.int(3, 96), r.of([17, 64, 96])];
        const [equation, ...inputs] = r.of([
          ['bij,bjk->bik', [b, 4 * i, j], [b, j, 4 * d]], ['bhid,bhjd->bhij', [b, h, i, d], [b, h, j, d]],
          ['bhij,bhjd->bihd', [b, h, i, j], [b, h, j, d]], ['bij->bji', [b, 8 * i, 8 * j]],
          ['bij,ij->bi', [b, 4 * i, 4 * d], [4 * i, 4 * d]], ['i,j->ij', [16 * i], [16 * j]], ['bijd->bd', [b, i, j, d]],
          ['bid,de->bie', [b, 4 * i, d], [d, 4 * d]]
        ]);
        return {inputs: inputs.map((dims) => f32(dims, 0.5)), attributes: {equation}, bounds: kSums};
      }),
  entry(
      'MatMulNBits',
      (r) => {
        const m = r.of([1, 1, 3, 16, 96]), k = 32 * r.int(2, 64), n = r.of([17, 96, 256, 1152, 2048]);
        return {
          domain: 'com.microsoft',
          attributes: {K: k, N: n, bits: 4, block_size: 32},
          inputs: [f32([m, k]), constant(u8([n, k / 32, 16])), constant(f32([n * k / 32], 0.02))],
          bounds: {atol: 1e-2, rtol: 1e-2}
        };
      }),
];

export const kProductEntries = [...kConv, ...kProducts];
