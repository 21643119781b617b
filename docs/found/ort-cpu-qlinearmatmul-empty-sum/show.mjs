// QLinearMatMul [2,0] x [0,2]: sums of nothing.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  a: new ort.Tensor('uint8', [], [2, 0]),
  a_scale: new ort.Tensor('float32', [1], []),
  a_zero: new ort.Tensor('uint8', [0], []),
  b: new ort.Tensor('uint8', [], [0, 2]),
  b_scale: new ort.Tensor('float32', [1], []),
  b_zero: new ort.Tensor('uint8', [0], []),
  y_scale: new ort.Tensor('float32', [1], []),
  y_zero: new ort.Tensor('uint8', [100], []),
};
const expected = '[2,2] 100 100 100 100';
const earlier = {
  ...feeds,
  a: new ort.Tensor('uint8', [3, 3], [2, 1]),
  b: new ort.Tensor('uint8', [5, 5], [1, 2]),
};
await session.run(earlier);  // its result stays in the memory that the next run takes
const {y} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
