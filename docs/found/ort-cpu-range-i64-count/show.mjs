// Range of int64 from 2^60 to 2^60 + 3.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  start: new ort.Tensor('int64', [1152921504606846976n], []),
  limit: new ort.Tensor('int64', [1152921504606846979n], []),
  delta: new ort.Tensor('int64', [1n], []),
};
const expected = '[3] 1152921504606846976 1152921504606846977 1152921504606846978';
const {y} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
