// The operators that hunt.mjs compares: those of quantised tensors. hunt_cases.mjs says what an entry is.
import {constant, f32, i8, point, reals, scaleOf, sums, u8} from './contrib_inputs.mjs';
import {entry} from './hunt_draws.mjs';
import {drawConv, kConvForms, sides} from './hunt_products.mjs';

const kMicrosoft = {domain: 'com.microsoft'};
const kStep = {atol: 1, rtol: 0};  // a product halfway between two codes may round either way
const bySide = (r, make, count) => constant({...make([count])});
const x = [scaleOf(0.02), point(u8, 128)], y = [scaleOf(0.9), point(u8, 120)];
const scales = (count) => constant(reals([count], Array.from({length: count}, (_, i) => 0.003 + 0.00001 * (i % 97))));
const zeros = (count) => constant({...i8([count]), range: [0, 0]});

const kConv = [
  ...kConvForms.map(
      ([name, form]) => entry(
          `QLinearConv ${name}`,
          (r) => {
            const {x: dims, w, attributes} = drawConv(r, form), count = w[0];
            return {
              inputs: [u8(dims), ...x, constant(i8(w)), scales(count), zeros(count), ...y, constant({...sums([count])})],
              attributes,
              bounds: kStep
            };
          })),
  ...kConvForms.filter(([name]) => ['1x1', '3x3', 'depthwise', 'strided'].includes(name))
      .map(
          ([name, form]) => entry(
              `ConvInteger ${name}`,
              (r) => {
                const {x: dims, w, attributes} = drawConv(r, form);
                return {inputs: [u8(dims), constant(u8(w)), point(u8, 128), point(u8, 120)], attributes};
              })),
];
const kProducts = [
  entry(
      'MatMulInteger',
      (r) => {
        const [m, k, n] = sides(r), w = r.of([i8, u8]);
        return {inputs: [u8([m, k]), constant(w([k, n])), point(u8, 128), point(w, 3)]};
      }),
  entry(
      'QLinearMatMul',
      (r) => {
        const [m, k, n] = sides(r);
        return {inputs: [u8([m, k]), ...x, constant(i8([k, n])), scaleOf(0.003), point(i8, 0), ...y], bounds: kStep};
      }),
  entry(
      'QGemm',
      (r) => {
        const [m, k, n] = sides(r), transB = r.int(0, 1);
        return {
          ...kMicrosoft,
          inputs: [u8([m, k]), ...x, constant(i8(transB ? [n, k] : [k, n])), scales(n), zeros(n), constant(sums([n])), ...y],
          attributes: {transB, alpha: {float: 1}},
          bounds: kStep
        };
      }),
  entry(
      'DynamicQuantizeMatMul',
      (r) => {
        const [m, k, n] = sides(r);
        return {...kMicrosoft, inputs: [f32([m, k]), constant(i8([k, n])), scaleOf(0.003), point(i8, 0)], bounds: {atol: 0.05, rtol: 0.05}};
      }),
  entry(
      'MatMulIntegerToFloat',
      (r) => {
        const [m, k, n] = sides(r);
        return {
          ...kMicrosoft,
          inputs: [u8([m, k]), constant(i8([k, n])), scaleOf(0.02), scales(n), point(u8, 128), zeros(n)],
          bounds: {atol: 1e-3, rtol: 1e-3}
        };
      }),
];

const quantisedPair = (op, make) => entry(`${op}${make === u8 ? '' : ' i8'}`, (r) => {
  const dims = r.shape(1 << 16, 1 << 20), other = r.of([dims, dims, [], [dims.at(-1)], dims.map((extent, i) => i === 1 ? extent : 1)]);
  return {
    ...kMicrosoft,
    inputs: [
      make(dims), scaleOf(0.031), point(make, 10), make(other), scaleOf(0.053), point(make, 3), scaleOf(op === 'QLinearAdd' ? 0.067 : 0.91),
      point(make, 9)
    ],
    bounds: kStep
  };
});
const quantisedUnary = (op, more = {}) => entry(
    op,
    (r) =>
        ({...kMicrosoft, inputs: [u8(r.shape()), scaleOf(0.05), point(u8, 128), scaleOf(1 / 256), point(u8, 0)], bounds: kStep, ...more}));
const maps = (r) => r.maps(1 << 15, 1 << 20);
const linear = (name, from, more) => entry(name, (r) => {
  const dims = r.shape(1 << 16, 1 << 20, r.int(2, 4)), make = name.includes('i8') ? i8 : u8, axis = r.int(0, dims.length - 1),
        count = dims[axis];
  const ends = more === 'axis' ? [scales(count), bySide(r, make, count)] : [scaleOf(0.0213), point(make, 12)];
  return {
    inputs: [from === 'codes' ? make(dims) : f32(dims, 2), ...ends],
    attributes: more === 'axis' ? {axis} : {},
    bounds: from === 'codes' ? undefined : kStep
  };
});
const blocked = (op) => entry(`${op} blocked`, (r) => {
  const block = r.of([16, 32, 64]), rows = r.log(16, 1024), columns = block * r.int(2, 64);
  const ends = [constant({type: 'float32', dims: [rows, columns / block], between: [0.01, 0.02]}), constant(u8([rows, columns / block]))];
  return {
    opset: 21,
    inputs: [op[0] === 'Q' ? f32([rows, columns]) : u8([rows, columns]), ...ends],
    attributes: {axis: 1, block_size: block},
    bounds: op[0] === 'Q' ? kStep : undefined
  };
});
const kElements = [
  ...['QLinearAdd', 'QLinearMul'].flatMap((op) => [quantisedPair(op, u8), quantisedPair(op, i8)]),
  quantisedUnary('QLinearSigmoid'),
  quantisedUnary('QLinearLeakyRelu', {attributes: {alpha: {float: 0.1}}}),
  entry(
      'QLinearSoftmax',
      (r) => {
        const dims = r.shape(1 << 15, 1 << 20, r.int(2, 3));
        return {
          ...kMicrosoft,
          inputs: [u8(dims), scaleOf(0.05), point(u8, 128), scaleOf(1 / 256), point(u8, 0)],
          attributes: {opset: 13, axis: r.int(0, dims.length - 1)},
          bounds: kStep
        };
      }),
  entry(
      'QLinearConcat',
      (r) => {
        const dims = r.shape(1 << 15, 1 << 19, 3), axis = r.int(0, 2);
        return {...kMicrosoft, inputs: [...y, u8(dims), ...x, u8(dims), scaleOf(0.05), point(u8, 3)], attributes: {axis}, bounds: kStep};
      }),
  entry('QLinearAveragePool', (r) => ({
                                ...kMicrosoft,
                                inputs: [u8(maps(r)), ...x, scaleOf(0.0313), point(u8, 100)],
                                attributes: {kernel_shape: [2, 2], strides: [r.int(1, 2), 2], pads: [1, 1, 1, 1]},
                                bounds: kStep
                              })),
  entry(
      'QLinearGlobalAveragePool',
      (r) =>
          ({...kMicrosoft, inputs: [u8(maps(r)), ...x, scaleOf(0.0113), point(u8, 100)], attributes: {channels_last: 0}, bounds: kStep})),
  entry('DynamicQuantizeLinear', (r) => ({inputs: [f32(r.shape())], outputs: ['y', 'scale', 'zero'], bounds: kStep})),
  linear('QuantizeLinear', 'reals'),
  linear('QuantizeLinear i8', 'reals'),
  linear('QuantizeLinear by axis', 'reals', 'axis'),
  linear('DequantizeLinear', 'codes'),
  linear('DequantizeLinear i8', 'codes'),
  linear('DequantizeLinear by axis', 'codes', 'axis'),
  blocked('QuantizeLinear'),
  blocked('DequantizeLinear'),
];

export const kQuantisedEntries = [...kConv, ...kProducts, ...kElements];
