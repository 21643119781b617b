// QuantizeLinear of f16: +Infinity and -Infinity to int8.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
const model = fileURLToPath(new URL('model.onnx', import.meta.url));
const session = await ort.InferenceSession.create(model, {executionProviders: ['cpu']});
const feeds = {
  x: new ort.Tensor('float16', new Uint16Array([0x7c00, 0xfc00, 0x4000]), [3]),
  scale: new ort.Tensor('float16', new Uint16Array([0x3c00]), []),
  zero: new ort.Tensor('int8', [0], []),
};
const expected = '[3] 127 -128 2';
const {y} = await session.run(feeds);
const got = `[${y.dims}] ${[...y.data].join(' ')}`;
console.log(`got      ${got}\nexpected ${expected}`);
process.exitCode = got === expected ? 0 : 1;
