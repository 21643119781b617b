// GridSample, nearest, padding zeros, far outside an image of ones.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  x: new ort.Tensor('float32', [1, 1, 1, 1], [1, 1, 2, 2]),
  grid: new ort.Tensor('float32', [1.0000000200408773e+20, 1.0000000200408773e+20], [1, 1, 1, 2]),
};
const expected = '[1,1,1,1] 0';
const {y} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
