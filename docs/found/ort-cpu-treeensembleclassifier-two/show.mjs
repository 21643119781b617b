// TreeEnsembleClassifier with two classes, 5 and 6: votes 7 and 3, then 2 and 8.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  x: new ort.Tensor('float32', [0, 2], [2, 1]),
};
const expected = '[2] 5 6, scores 7 3 2 8';
const {y, scores} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].join(' ')}, scores ${[...scores.data].join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
