// Where selects -0.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  condition: new ort.Tensor('bool', [1, 0], [2]),
  x: new ort.Tensor('float32', [-0, 1], [2]),
  z: new ort.Tensor('float32', [2, 3], [2]),
};
const expected = '[2] -0 3';
const {y} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].map((v) => (Object.is(v, -0) ? '-0' : v)).join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
