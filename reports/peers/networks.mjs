// Networks of npm packages and of the zoo, and how they run on ONNX Runtime and on OpKit. For trained.mjs and
// onnxruntime.mjs. A `place` is {packages, bin, output}: the folder that holds node_modules, that of OpKit's programs, and
// one for logs.
import {spawnSync} from 'node:child_process';
import {mkdirSync, openSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));

/** Joins the chunks of a network that a package delivers in pieces: `join` is [LIST.json, KEY] of the package. */
function join(place, {file, join}) {
  const root = `${place.packages}/node_modules/${file.split('/').slice(0, file.startsWith('@') ? 2 : 1).join('/')}`;
  const list = `${root}/${join[0]}`, {chunks} = JSON.parse(readFileSync(list, 'utf8'))[join[1]];
  writeFileSync(
      `${place.packages}/node_modules/${file}`,
      Buffer.concat(chunks.map(({hash}) => readFileSync(`${path.dirname(list)}/${hash}`))));
}

/** Writes a network of the zoo beside the packages; `zoo` is its name, with parameters. */
function convert(place, network) {
  network.file = `.zoo/${network.name}.onnx`;
  mkdirSync(`${place.packages}/node_modules/.zoo`, {recursive: true});
  const child = spawnSync(
      `${place.bin}/op-convert`, [`zoo:${network.zoo}`, `${place.packages}/node_modules/${network.file}`], {encoding: 'utf8'});
  if (child.status !== 0) throw new Error(child.stderr.trim().split('\n').pop());
}

/** Makes the file of a network that no package holds as it is. */
export function makeFile(place, network) {
  if (network.join) join(place, network);
  if (network.zoo) convert(place, network);
}

/** Runs a network on ONNX Runtime; what it prints to stderr goes to a log. Returns its line, or {error}. */
export function runPeer(place, network, folder, options) {
  const job = {
    packages: place.packages, folder, model: `${place.packages}/node_modules/${network.file}`, inputs: network.inputs,
    threads: 1, ...options};
  mkdirSync(folder, {recursive: true});
  const log = openSync(`${place.output}/onnxruntime.log`, 'a');
  const child = spawnSync(
      process.execPath, [`${here}/onnx_expect.mjs`, JSON.stringify(job)],
      {stdio: ['ignore', 'pipe', log], timeout: 300000, maxBuffer: 1 << 28, encoding: 'utf8'});
  try {
    return JSON.parse(child.stdout);
  } catch {
    return {error: `it ended with ${child.signal ?? `exit code ${child.status}`}; see ${place.output}/onnxruntime.log`};
  }
}

/** Runs a model of a folder with its data on OpKit; returns {times, placement} with the times in ns, or
 * {error, code}: 1 is an output that --expect does not take. */
export function runOurs(place, folder, backend, inputs, ...options) {
  const record = `${place.output}/op_run.json`;
  const child = spawnSync(
      `${place.bin}/op-run`,
      [`${folder}/model.onnx`, '--backend', backend, '--json', record,
       ...inputs.flatMap((name, k) => ['--input', `${name}=${folder}/test_data_set_0/input_${k}.pb`]), ...options],
      {stdio: ['ignore', 'ignore', 'pipe'], timeout: 300000, encoding: 'utf8'});
  if (child.status !== 0) {
    const last = child.stderr.trim().split('\n').pop();
    return {code: child.status, error: last || `op-run ended with ${child.signal ?? `exit code ${child.status}`}`};
  }
  const [step] = JSON.parse(readFileSync(record, 'utf8')).steps;
  return {times: step.runNs, placement: step.placement};
}
