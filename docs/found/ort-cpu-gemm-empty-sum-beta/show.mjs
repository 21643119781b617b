// Gemm [2,0] x [0,3] with beta 0.5.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  a: new ort.Tensor('float32', [], [2, 0]),
  b: new ort.Tensor('float32', [], [0, 3]),
  c: new ort.Tensor('float32', [2, 4, 6], [3]),
};
const expected = '[2,3] 1 2 3 1 2 3';
const {y} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
