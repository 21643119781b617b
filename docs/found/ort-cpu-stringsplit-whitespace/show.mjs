// StringSplit without a delimiter: a tab and a line end.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  x: new ort.Tensor('string', ['a\tb\nc d'], [1]),
};
const expected = '[1,4] a|b|c|d, 4';
const {y, count} = await session.run(feeds);
const got = `[${y.dims}] ${y.data.map((s) => JSON.stringify(s).slice(1, -1)).join('|')}, ${count.data[0]}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
