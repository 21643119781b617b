// Where of bool with broadcasting, asked of ONNX Runtime's WebGPU provider.
// Without broadcasting it is right.
// In a folder after `npm install onnxruntime-node@1.30`: node PATH/show.mjs [cpu]
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
const ort = createRequire(`${process.cwd()}/`)('onnxruntime-node');
const provider = process.argv[2] ?? 'webgpu';
const feeds = {
  condition: new ort.Tensor('bool', [true, false, true], [3]),
  a: new ort.Tensor('bool', [true], [1]),
  b: new ort.Tensor('bool', [true, true, false], [3]),
};
const expected = [1n, 1n, 1n];
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
