// Compares the tensors of a network, as OpKit computed them, with ONNX Runtime's; writes what a line of kind `model` holds
// (reports/schema.md).
import {isFloat, numbersOf, readNpy} from './onnx_bytes.mjs';

const kNmseGate = 1e-8;  // a float tensor departs above it, as in op-harness model

/** Representable f32 values between two numbers. */
function ulpsBetween(a, b) {
  const bits = new Int32Array(Float32Array.of(a, b).buffer);
  const [p, q] = Array.from(bits, (value) => value < 0 ? -(value & 0x7fffffff) : value);
  return Math.abs(p - q);
}

/** {maxAbs, maxUlp, nmse, margin, status}; NaN and infinities must be equal, integers exact. */
function compareTensor(got, expected) {
  const result = {maxAbs: 0, maxUlp: 0, nmse: 0, margin: 0, status: 'pass'};
  if (got.type !== expected.type || got.dims.join() !== expected.dims.join()) {
    const text = ({type, dims}) => `${type}[${dims}]`;
    return {...result, nmse: 'inf', status: 'fail', reason: `is ${text(got)}, expected ${text(expected)}`};
  }
  const ours = numbersOf(got), theirs = numbersOf(expected);
  let errors = 0, squares = 0, specials = 0;
  for (let i = 0; i < ours.length; ++i) {
    squares += Number.isFinite(theirs[i]) ? theirs[i] ** 2 : 0;
    if (Object.is(ours[i], theirs[i]) || ours[i] === theirs[i]) continue;
    const error = Math.abs(ours[i] - theirs[i]);
    if (!Number.isFinite(error)) { ++specials; continue; }
    errors += error ** 2;
    result.maxAbs = Math.max(result.maxAbs, error);
    result.margin = Math.max(result.margin, error / (1e-7 + 1e-3 * Math.abs(theirs[i])));
    if (got.type === 'float32') result.maxUlp = Math.max(result.maxUlp, ulpsBetween(ours[i], theirs[i]));
  }
  result.nmse = errors > 0 ? errors / Math.max(squares, Number.MIN_VALUE) : 0;
  if (specials > 0) result.reason = `${specials} NaN or infinite elements differ`;
  const departs = specials > 0 || (isFloat(got.type) ? result.nmse > kNmseGate : errors > 0);
  return {...result, nmse: Number.isFinite(result.nmse) ? result.nmse : 'inf', status: departs ? 'fail' : 'pass'};
}

/** The name of the file that op-run --output writes for a tensor. */
const fileNameOf = (name) => name.replace(/[/\\:\x00-\x1f]/g, '_').replace(/^\./, '_.') + '.npy';

/**
 * `tensors` is [{tensor, op}] in the order of the nodes; `expected` holds layer_K.npy, `got` what op-run wrote. Returns
 * {status, reason, layers}: it fails at the first tensor that departs.
 */
export function compareLayers(tensors, expected, got) {
  const layers = tensors.map(({tensor, op}, k) => {
    const ours = readNpy(`${got}/${fileNameOf(tensor)}`), theirs = readNpy(`${expected}/layer_${k}.npy`);
    return {tensor, op, ...compareTensor(ours, theirs)};
  });
  const first = layers.find(({status}) => status === 'fail');
  if (!first) return {status: 'pass', layers};
  const detail = first.reason ?? `NMSE ${Number(first.nmse).toPrecision(2)}`;
  const where = `'${first.tensor}' (${first.op}) is the first to depart from ONNX Runtime`;
  return {status: 'fail', reason: `${where}: ${detail}`, layers};
}
