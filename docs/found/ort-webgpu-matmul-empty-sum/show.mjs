// MatMul [2, 0] x [0, 3], asked of ONNX Runtime's WebGPU provider.
// Sums of nothing are 0.
// In a folder after `npm install onnxruntime-node@1.30`: node PATH/show.mjs [cpu]
// NODE: the program that starts Node for the run, which may end with a signal (default: this one).
import {spawnSync} from 'node:child_process';
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
const provider = process.argv[2] ?? 'webgpu', script = fileURLToPath(import.meta.url);
const expected = [0, 0, 0, 0, 0, 0];
if (process.argv[3] !== 'run') {
  const child = spawnSync(process.env.NODE ?? process.execPath, [script, provider, 'run'], {encoding: 'utf8'});
  const got = child.signal ?? (child.status > 128 ? `exit code ${child.status}` : child.stdout.trim());
  console.log(`got ${got}`);
  console.log(`expected ${JSON.stringify(expected)}`);
  process.exit(got === JSON.stringify(expected) ? 0 : 1);
}
const ort = createRequire(`${process.cwd()}/`)('onnxruntime-node');
const session = await ort.InferenceSession.create(script.replace('show.mjs', 'model.onnx'), {
  executionProviders: [provider],
  logSeverityLevel: 4,
  extra: {session: {disable_cpu_ep_fallback: provider === 'cpu' ? '0' : '1'}},
});
const {y} = await session.run({
  a: new ort.Tensor('float32', [], [2, 0]),
  b: new ort.Tensor('float32', [], [0, 3]),
});
console.log(JSON.stringify(Array.from(y.data, Number)));
process.exit(0);
