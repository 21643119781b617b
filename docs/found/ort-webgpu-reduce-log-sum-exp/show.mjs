// ReduceLogSumExp of two elements of 100, asked of ONNX Runtime's WebGPU provider.
// log(2 * exp(100)) = 100 + log(2).
// In a folder after `npm install onnxruntime-node@1.30`: node PATH/show.mjs [cpu]
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
const ort = createRequire(`${process.cwd()}/`)('onnxruntime-node');
const provider = process.argv[2] ?? 'webgpu';
const feeds = {
  x: new ort.Tensor('float32', [100, 100], [2]),
};
const expected = [100.69315];
const session = await ort.InferenceSession.create(fileURLToPath(new URL('model.onnx', import.meta.url)), {
  executionProviders: [provider],
  logSeverityLevel: 4,
  extra: {session: {disable_cpu_ep_fallback: provider === 'cpu' ? '0' : '1'}},
});
const {y} = await session.run(feeds);
const got = Array.from(y.data, Number);
const isRight = got.length === expected.length &&
    expected.every((value, i) => (got[i] === value || Math.abs(got[i] - value) <= 0.0001));
console.log(`got ${got}`);
console.log(`expected ${expected}`);
process.exit(isRight ? 0 : 1);
