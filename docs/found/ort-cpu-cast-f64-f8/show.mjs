// Cast of f64 1 + 2^-4 + 2^-40 to E4M3FN (and to f32, to show it).
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  x: new ort.Tensor('float64', [1.0625000000009095], [1]),
};
const expected = '[1] 1.125';
const {y} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
