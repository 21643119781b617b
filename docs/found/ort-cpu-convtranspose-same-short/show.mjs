// ConvTranspose with SAME_UPPER, kernel 2 and stride 3.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  x: new ort.Tensor('float32', [1, 2], [1, 1, 2]),
  w: new ort.Tensor('float32', [1, 10], [1, 1, 2]),
};
const expected = '[1,1,6] 1 10 0 2 20 0';
const {y} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
