// Mod of int32: -2^31 mod -1.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {fork} from 'node:child_process';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

if (!process.send) {
  const expected = '[1] 0';
  const worker = fork(process.argv[1], {stdio: ['ignore', 'inherit', 'ignore', 'ipc']});
  let got = '';
  worker.on('message', (text) => { got = text; });
  worker.on('exit', (code, signal) => {
    got ||= `the process ended with ${signal ?? code}`;
    console.log(`got      ${got}\nexpected ${expected}`);
    process.exitCode = got === expected ? 0 : 1;
  });
} else {
  const ort = createRequire(path.join(process.cwd(), 'show.mjs'))('onnxruntime-node');
  const session = await ort.InferenceSession.create(fileURLToPath(new URL('model.onnx', import.meta.url)));
  const {y} = await session.run({
    a: new ort.Tensor('int32', [-2147483648], [1]),
    b: new ort.Tensor('int32', [-1], [1]),
  });
  process.send(`[${y.dims}] ${[...y.data].join(' ')}`, () => process.exit());
}
