// LayerNormalization of a row with mean 1e4, asked of ONNX Runtime's WebGPU provider.
// All elements and their mean are exact in f32.
// In a folder after `npm install onnxruntime-node@1.30`: node PATH/show.mjs [cpu]
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
const ort = createRequire(`${process.cwd()}/`)('onnxruntime-node');
const provider = process.argv[2] ?? 'webgpu';
const feeds = {
  x: new ort.Tensor('float32', [10000, 10001, 10002, 10003], [1, 4]),
  scale: new ort.Tensor('float32', [1, 1, 1, 1], [4]),
};
const expected = [-1.3416354, -0.4472118, 0.4472118, 1.3416354];
const session = await ort.InferenceSession.create(fileURLToPath(new URL('model.onnx', import.meta.url)), {
  executionProviders: [provider],
  logSeverityLevel: 4,
  extra: {session: {disable_cpu_ep_fallback: provider === 'cpu' ? '0' : '1'}},
});
const {y} = await session.run(feeds);
const got = Array.from(y.data, Number);
const isRight = got.length === expected.length &&
    expected.every((value, i) => (got[i] === value || Math.abs(got[i] - value) <= 0.001));
console.log(`got ${got}`);
console.log(`expected ${expected}`);
process.exit(isRight ? 0 : 1);
