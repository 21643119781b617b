// InstanceNormalization of [2, 2, 0].
// Start it in the folder that has node_modules/onnxruntime-node: node path/to/show.mjs
import {fork} from 'node:child_process';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

if (!process.send) {
  const expected = '[2,2,0]';
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
    x: new ort.Tensor('float32', [], [2, 2, 0]),
    scale: new ort.Tensor('float32', [1, 1], [2]),
    bias: new ort.Tensor('float32', [0, 0], [2]),
  });
  process.send(`[${y.dims}]`, () => process.exit());
}
