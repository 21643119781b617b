// Unique of f32: NaN, 1, 2.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  x: new ort.Tensor('float32', [NaN, 1, 2], [3]),
};
const expected = '[3] NaN 1 2, counts 1 1 1';
const {y, counts} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].join(' ')}, counts ${[...counts.data].join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
