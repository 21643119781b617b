// Softmax of opset 11 with axis 1 of 3, asked of ONNX Runtime's WebGPU provider.
// Before opset 13 the axes from `axis` on are one.
// In a folder after `npm install onnxruntime-node@1.30`: node PATH/show.mjs [cpu]
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
const ort = createRequire(`${process.cwd()}/`)('onnxruntime-node');
const provider = process.argv[2] ?? 'webgpu';
const feeds = {
  x: new ort.Tensor('float32', Array(6).fill(0), [1, 2, 3]),
};
const expected = Array(6).fill(1 / 6);
const model = ort.InferenceSession.create(fileURLToPath(new URL('model.onnx', import.meta.url)), {
  executionProviders: [provider],
  logSeverityLevel: 4,
  extra: {session: {disable_cpu_ep_fallback: provider === 'cpu' ? '0' : '1'}},
});
const outcome = await model.then((session) => session.run(feeds))
  .then(({y}) => Array.from(y.data, Number), (error) => error.message);
const got = typeof outcome === 'string' ? outcome.split('\n')[0] : outcome;
const isRight = got.length === expected.length &&
    expected.every((value, i) => (got[i] === value || Math.abs(got[i] - value) <= 1e-5));
console.log(`got ${got}`);
console.log(`expected ${expected}`);
process.exit(isRight ? 0 : 1);
