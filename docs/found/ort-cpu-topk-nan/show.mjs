// TopK of f32 with NaN: are the numbers in the sorted result in descending order?
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  x: new ort.Tensor('float32', [1, NaN, 3, 5, NaN, 2, 4, 7, 0], [9]),
  k: new ort.Tensor('int64', [9n], [1]),
};
const expected = '7 5 4 3 2 1 0';
const {y} = await session.run(feeds);
const got = [...y.data].filter((v) => !Number.isNaN(v)).join(' ');
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
