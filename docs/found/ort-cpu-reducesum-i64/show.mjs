// ReduceSum of int64: 2^53 + 1.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  x: new ort.Tensor('int64', [9007199254740992n, 1n], [2]),
  axes: new ort.Tensor('int64', [0n], [1]),
};
const expected = '[] 9007199254740993';
const {y} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
