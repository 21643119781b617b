// Einsum ...i,...i->... with an extent of 1 against 2 in the dots, asked of ONNX Runtime's WebGPU provider.
// ONNX: the axes of the dots are broadcast.
// In a folder after `npm install onnxruntime-node@1.30`: node PATH/show.mjs [cpu]
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
const ort = createRequire(`${process.cwd()}/`)('onnxruntime-node');
const provider = process.argv[2] ?? 'webgpu';
const feeds = {
  a: new ort.Tensor('float32', [1, 2, 3, 4], [2, 2]),
  b: new ort.Tensor('float32', [1, 10], [1, 2]),
};
const expected = [21, 43];
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
