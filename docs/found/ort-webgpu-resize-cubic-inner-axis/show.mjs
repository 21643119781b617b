// Resize, mode cubic, of axis 1 of 4 axes, asked of ONNX Runtime's WebGPU provider.
// Scales 1, 2, 1, 1: the innermost axis keeps its extent.
// In a folder after `npm install onnxruntime-node@1.30`: node PATH/show.mjs [cpu]
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
const ort = createRequire(`${process.cwd()}/`)('onnxruntime-node');
const provider = process.argv[2] ?? 'webgpu';
const feeds = {
  x: new ort.Tensor('float32', [1, 2, 3, 4], [1, 2, 1, 2]),
};
const expected = [0.7890625, 1.7890625, 1.453125, 2.453125, 2.546875, 3.546875, 3.2109375, 4.2109375];
const session = await ort.InferenceSession.create(fileURLToPath(new URL('model.onnx', import.meta.url)), {
  executionProviders: [provider],
  logSeverityLevel: 4,
  extra: {session: {disable_cpu_ep_fallback: provider === 'cpu' ? '0' : '1'}},
});
const {y} = await session.run(feeds);
const got = Array.from(y.data, Number);
const isRight = got.length === expected.length &&
    expected.every((value, i) => (got[i] === value || Math.abs(got[i] - value) <= 1e-5));
console.log(`got ${got}`);
console.log(`expected ${expected}`);
process.exit(isRight ? 0 : 1);
