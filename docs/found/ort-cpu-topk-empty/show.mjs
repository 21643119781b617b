// TopK of [0, 9]: no rows.
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {fork} from 'node:child_process';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

if (!process.send) {
  const expected = '[0,3]';
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
    x: new ort.Tensor('float32', [], [0, 9]),
    k: new ort.Tensor('int64', [3n], [1]),
  });
  process.send(`[${y.dims}]`, () => process.exit());
}
