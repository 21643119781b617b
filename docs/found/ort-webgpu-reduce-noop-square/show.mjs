// ReduceSumSquare with noop_with_empty_axes and no axes, asked of ONNX Runtime's WebGPU provider.
// Nothing is summed, but the elements are squared (text of opset 18).
// In a folder after `npm install onnxruntime-node@1.30`: node PATH/show.mjs [cpu]
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
const ort = createRequire(`${process.cwd()}/`)('onnxruntime-node');
const provider = process.argv[2] ?? 'webgpu';
const feeds = {
  x: new ort.Tensor('float32', [-1, 2, 3], [3]),
};
const expected = [1, 4, 9];
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
