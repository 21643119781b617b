// ConvInteger of an image without channels.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  x: new ort.Tensor('uint8', [], [1, 0, 2, 2]),
  w: new ort.Tensor('uint8', [], [2, 0, 1, 1]),
};
const expected = '[1,2,2,2] 0 0 0 0 0 0 0 0';
const earlier = {
  ...feeds,
  x: new ort.Tensor('uint8', [3, 3, 3, 3], [1, 1, 2, 2]),
  w: new ort.Tensor('uint8', [5, 5], [2, 1, 1, 1]),
};
await session.run(earlier);  // its result stays in the memory that the next run takes
const {y} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
