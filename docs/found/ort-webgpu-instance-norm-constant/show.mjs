// InstanceNormalization of a plane of equal elements, asked of ONNX Runtime's WebGPU provider.
// x equals its mean: the result is the bias, 0. A mean rounded to f32 gives less than 0.05.
// In a folder after `npm install onnxruntime-node@1.30`: node PATH/show.mjs [cpu]
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
const ort = createRequire(`${process.cwd()}/`)('onnxruntime-node');
const provider = process.argv[2] ?? 'webgpu';
const feeds = {
  x: new ort.Tensor('float32', Array(5).fill(1000.1), [1, 1, 5]),
  scale: new ort.Tensor('float32', [1], [1]),
  bias: new ort.Tensor('float32', [0], [1]),
};
const expected = [0, 0, 0, 0, 0];
const session = await ort.InferenceSession.create(fileURLToPath(new URL('model.onnx', import.meta.url)), {
  executionProviders: [provider],
  logSeverityLevel: 4,
  extra: {session: {disable_cpu_ep_fallback: provider === 'cpu' ? '0' : '1'}},
});
const {y} = await session.run(feeds);
const got = Array.from(y.data, Number);
const isRight = got.length === expected.length &&
    expected.every((value, i) => (got[i] === value || Math.abs(got[i] - value) <= 0.05));
console.log(`got ${got}`);
console.log(`expected ${expected}`);
process.exit(isRight ? 0 : 1);
