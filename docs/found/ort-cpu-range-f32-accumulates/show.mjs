// Range of f32 from 2^24, delta 1.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  start: new ort.Tensor('float32', [16777216], []),
  limit: new ort.Tensor('float32', [16777222], []),
  delta: new ort.Tensor('float32', [1], []),
};
const expected = '[6] 16777216 16777216 16777218 16777220 16777220 16777220';
const {y} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
