// The operators that hunt.mjs compares: those that move data, or make it. hunt_cases.mjs says what an entry is.
import {constant, f16, f32, f64, flags, i64, i8, reals, u8} from './contrib_inputs.mjs';
import {above, axes, entry, list, shuffled, someAxes, whole, wide} from './hunt_draws.mjs';
import {elementCount} from './onnx_bytes.mjs';

const kMoved = [['', f32], [' u8', u8], [' i64', wide], [' f16', f16]];
const moved = (op, draw, kinds = kMoved) => kinds.map(([suffix, make]) => entry(op + suffix, (r) => draw(r, make)));
/** `dims` with another extent of an axis. */
const withExtent = (dims, axis, extent) => dims.map((one, i) => i === axis ? extent : one);
/** Indices into an extent, some of them negative. */
const indices = (dims, extent) => ({type: 'int64', dims, range: [-extent, extent - 1]});
const slice = (r, make) => {
  const dims = r.shape(1 << 15, 1 << 20, r.int(1, 4)), chosen = someAxes(r, dims), steps = chosen.map(() => r.of([1, 1, 2, 3, -1, -2]));
  const ends = chosen.map((axis, i) => steps[i] > 0 ? dims[axis] : -dims[axis] - 1),
        starts = chosen.map((axis, i) => steps[i] > 0 ? r.int(0, dims[axis] >> 2) : -1);
  return {inputs: [make(dims), list(starts), list(ends), list(chosen), list(steps)]};
};
const pad = (mode) => (r, make) => {
  const dims = r.shape(1 << 15, 1 << 20, r.int(2, 4)), room = (extent) => mode === 'constant' ? 5 : Math.min(5, Math.max(0, extent - 1));
  const pads = [...dims, ...dims].map((extent) => r.chance(0.5) ? r.int(0, room(extent)) : 0);
  return {inputs: [make(dims), list(pads)], attributes: {mode}, opset: 19};
};
const kMoves = [
  ...moved(
      'Transpose',
      (r, make) => {
        const dims = r.shape(1 << 14, 1 << 20, r.int(2, 4));
        let perm = shuffled(r, axes(dims));
        if (perm.every((axis, i) => axis === i)) perm = perm.reverse();
        return {inputs: [make(dims)], attributes: {perm}};
      }),
  ...moved(
      'Concat',
      (r, make) => {
        const dims = r.shape(1 << 14, 1 << 18, r.int(1, 4)), axis = r.int(0, dims.length - 1);
        return {
          inputs: Array.from(
              {length: r.int(2, 5)},
              () => make(withExtent(dims, axis, Math.max(1, r.chance(0.5) ? dims[axis] : Math.min(dims[axis], r.int(1, 17)))))),
          attributes: {axis}
        };
      }),
  ...moved(
      'Split',
      (r, make) => {
        const dims = r.shape(1 << 15, 1 << 20, r.int(2, 4)), axis = r.int(0, dims.length - 1), parts = Math.min(r.int(2, 4), dims[axis]);
        const first = Math.floor(dims[axis] / parts),
              sizes = Array.from({length: parts}, (_, i) => i ? first : dims[axis] - first * (parts - 1));
        return {inputs: [make(dims), list(sizes)], attributes: {axis}, outputs: sizes.map((_, i) => `y${i}`)};
      }),
  ...moved('Slice', slice),
  ...moved('Pad', pad('constant')),
  ...['reflect', 'edge', 'wrap'].flatMap((mode) => moved(`Pad ${mode}`, pad(mode), [kMoved[0]])),
  ...moved(
      'Gather',
      (r, make) => {
        const dims = r.shape(1 << 14, 1 << 20, r.int(2, 4)), axis = r.int(0, dims.length - 1);
        return {
          inputs: [make(dims), indices([r.log(1, Math.min(4000, Math.ceil(2 ** 21 * dims[axis] / elementCount(dims))))], dims[axis])],
          attributes: {axis}
        };
      }),
  ...moved(
      'GatherElements',
      (r, make) => {
        const dims = r.shape(1 << 14, 1 << 19, r.int(1, 3)), axis = r.int(0, dims.length - 1);
        return {inputs: [make(dims), indices(withExtent(dims, axis, r.int(1, dims[axis])), dims[axis])], attributes: {axis}};
      },
      kMoved.slice(0, 3)),
  ...moved(
      'GatherND',
      (r, make) => {
        const dims = r.shape(1 << 14, 1 << 19, 3), depth = r.int(1, 2), least = Math.min(...dims.slice(0, depth));
        const rows = r.log(1, Math.min(50000, 2 ** 20 / elementCount(dims.slice(depth))));
        return {inputs: [make(dims), indices([rows, depth], least)]};
      },
      kMoved.slice(0, 3)),
  ...['none', 'add', 'max'].flatMap(
      (reduction) => moved(
          `ScatterElements ${reduction}`,
          (r, make) => {
            const dims = r.shape(1 << 14, 1 << 18, r.int(1, 3)), axis = r.int(0, dims.length - 1);
            const some = withExtent(dims, axis, reduction === 'none' ? 1 : r.int(1, dims[axis]));
            return {
              inputs: [make(dims), indices(some, dims[axis]), make(some)],
              attributes: {axis, reduction},
              opset: 18,
              bounds: {atol: 1e-3, rtol: 1e-3}
            };
          },
          [kMoved[0]])),
  ...['none', 'add'].flatMap(
      (reduction) => moved(
          `ScatterND ${reduction}`,
          (r, make) => {
            const dims = r.shape(1 << 14, 1 << 18, 3);
            const rows = reduction === 'none' ? shuffled(r, Array.from({length: Math.min(dims[0], 500)}, (_, i) => i)) :
                                                Array.from({length: r.int(1, 50)}, () => r.int(0, dims[0] - 1));
            return {
              inputs: [make(dims), i64([rows.length, 1], rows), make([rows.length, ...dims.slice(1)])],
              attributes: {reduction},
              opset: 18,
              bounds: {atol: 1e-3, rtol: 1e-3},
              text: `${dims.join('x')} ${rows.length} rows`
            };
          },
          [kMoved[0]])),
  ...moved(
      'Tile',
      (r, make) => {
        const dims = r.shape(1 << 10, 1 << 16, r.int(1, 4));
        return {inputs: [make(dims), list(dims.map(() => r.of([1, 1, 2, 3])))]};
      }),
  ...moved(
      'Expand',
      (r, make) => {
        const dims = r.shape(1 << 15, 1 << 20, r.int(2, 4)), kept = dims.map((extent) => r.chance(0.5) ? extent : 1);
        return {inputs: [make(kept), list(dims)]};
      }),
  ...moved(
      'DepthToSpace',
      (r, make) => {
        const block = r.int(2, 3), [n, c, h, w] = r.maps(1 << 12, 1 << 17);
        return {inputs: [make([n, c * block * block, h, w])], attributes: {blocksize: block, mode: r.of(['DCR', 'CRD'])}};
      },
      kMoved.slice(0, 2)),
  ...moved(
      'SpaceToDepth',
      (r, make) => {
        const block = r.int(2, 3), [n, c, h, w] = r.maps(1 << 12, 1 << 17);
        return {inputs: [make([n, c, h * block, w * block])], attributes: {blocksize: block}};
      },
      kMoved.slice(0, 1)),
  ...moved(
      'Trilu',
      (r, make) => {
        const dims = r.shape(1 << 15, 1 << 20, r.int(2, 4));
        return {inputs: [make(dims), constant(i64([], [r.int(-2, 3)]))], attributes: {upper: r.int(0, 1)}};
      },
      [kMoved[0], kMoved[2]]),
  ...moved('Identity', (r, make) => ({inputs: [make(r.shape())]}), kMoved.slice(0, 1)),
  ...moved(
      'ReverseSequence',
      (r, make) => {
        const dims = [r.int(10, 200), r.of([1, 7, 17]), r.of([1, 4, 17, 96, 256])];
        return {inputs: [make(dims), {type: 'int64', dims: [dims[1]], range: [1, dims[0]]}]};
      },
      kMoved.slice(0, 1)),
  ...moved(
      'Compress',
      (r, make) => {
        const dims = r.shape(1 << 14, 1 << 19, r.int(1, 3)), axis = r.int(0, dims.length - 1);
        return {inputs: [make(dims), flags([dims[axis]])], attributes: {axis}};
      },
      kMoved.slice(0, 3)),
];

const cast = (name, from, type) => entry(`Cast ${name}`, (r) => ({inputs: [from(r.shape())], attributes: {to: type}}));
const kMade = [
  cast('f32 to f16', f32, 10), cast('f16 to f32', f16, 1), cast('f32 to i64', (dims) => f32(dims, 1000), 7), cast('i64 to f32', wide, 1), cast('u8 to f32', u8, 1),
  cast('f32 to u8', (dims) => above(dims, 0, 255), 2), cast('bool to f32', flags, 1), cast('f32 to bool', f32, 9), cast('i64 to i32', wide, 6), cast('f32 to f64', f32, 11), cast('f32 to i8', (dims) => f32(dims, 100), 3),
  entry('CastLike', (r) => ({inputs: [f32(r.shape()), wide([1])]})),
  entry('NonZero', (r) => ({inputs: [whole('int64', 0, r.of([1, 9]))(r.shape(1 << 14, 1 << 19))]})),
  entry('NonZero bool', (r) => ({inputs: [flags(r.shape(1 << 14, 1 << 19))]})),
  entry('OneHot', (r) => { const depth = r.of([4, 17, 96, 1152]), dims = [r.log(100, 2 ** 20 / depth)]; return {inputs: [indices(dims, depth), constant(i64([1], [depth])), constant(reals([2], [0, 1]))], attributes: {axis: r.of([-1, 0])}}; }),
  entry('Range', (r) => ({inputs: [i64([], [r.int(0, 9)]), i64([], [r.log(20000, 2 ** 21)]), i64([], [r.int(1, 3)])]})),
  entry('Range f32', (r) => ({inputs: [reals([], [0]), reals([], [r.log(10000, 2 ** 20)]), reals([], [0.5])]})),
  entry('EyeLike', (r) => ({inputs: [f32([r.int(100, 1500), r.int(100, 1500)])], attributes: {k: r.int(-3, 3)}})),
  entry('Unique', (r) => ({inputs: [whole('int64', 0, r.of([9, 1000, 1e6]))([r.log(2000, 1e5)])], attributes: {sorted: r.int(0, 1)}, outputs: ['y', 'first', 'inverse', 'count']})),
  entry('Unique f32', (r) => ({inputs: [f32([r.log(2000, 1e5)])], attributes: {sorted: 1}})),
  entry('Unique rows', (r) => ({inputs: [whole('int64', 0, 2)([r.log(100, 5000), r.int(1, 17)])], attributes: {axis: 0}})),
  entry('Det', (r) => { const side = r.int(2, 40); return {inputs: [f32([Math.ceil(2e5 / side ** 2.5), side, side])], bounds: {atol: 1e-2, rtol: 1e-2}}; }),
  entry('DFT', (r) => ({opset: 20, inputs: [f32([r.of([1, 7]), r.log(64, 8000), r.int(1, 2)])], bounds: {atol: 0.1, rtol: 1e-3}})),
];

export const kMoveEntries = [...kMoves, ...kMade];
