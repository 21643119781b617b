// DFT, inverse and one-sided, of three values with dft_length 8.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  x: new ort.Tensor('float32', [2, 0, 4, 0, 6, 0], [1, 3, 2]),
  length: new ort.Tensor('int64', [8n], []),
};
const expected = '[1,8,1] 2.750 0.957 -1.250 -0.457 0.750 -0.457 -1.250 0.957';
const {y} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].map((v) => v.toFixed(3)).join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
