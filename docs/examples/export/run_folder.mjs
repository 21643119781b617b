// Runs folders of `op-harness export` with ONNX Runtime and judges the outputs by bound.json. One line per folder.
//   npm install onnxruntime-node@1.30
//   node run_folder.mjs DIR
// A session walks through all data sets, repeats the first, and runs those with hidden elements with NaN in them.
// A process runs the folders; if it ends or gives no answer for 30 seconds, that is the folder's outcome, and another goes
// on. Exit codes: 0, 1 if a folder was not right (the engine may refuse it), 3 if none ran.
import {fork} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
// The package is looked for in the folder in which you start the script.
const ort = createRequire(path.join(process.cwd(), 'run_folder.mjs'))('onnxruntime-node');
const kTypes = {
  1: ['float32', Float32Array], 2: ['uint8', Uint8Array], 3: ['int8', Int8Array], 4: ['uint16', Uint16Array],
  5: ['int16', Int16Array], 6: ['int32', Int32Array], 7: ['int64', BigInt64Array], 9: ['bool', Uint8Array],
  10: ['float16', Uint16Array], 11: ['float64', Float64Array], 12: ['uint32', Uint32Array],
  13: ['uint64', BigUint64Array]};

/** A TensorProto of protobuf: field 1 is dims, 2 data_type, 8 name, 9 raw_data. */
function readTensor(file) {
  const bytes = readFileSync(file), tensor = {dims: [], number: 0, name: '', raw: bytes.subarray(0, 0)};
  let at = 0;
  const varint = () => {
    let value = 0, scale = 1, byte;
    do { byte = bytes[at++]; value += (byte & 127) * scale; scale *= 128; } while (byte & 128);
    return value;
  };
  while (at < bytes.length) {
    const key = varint(), field = key >> 3, isBytes = (key & 7) === 2, value = varint();
    if (isBytes) at += value;
    if (field === 1 && !isBytes) tensor.dims.push(value);
    if (field === 2) tensor.number = value;
    if (field === 8) tensor.name = bytes.toString('utf8', at - value, at);
    if (field === 9) tensor.raw = bytes.subarray(at - value, at);
  }
  if (!kTypes[tensor.number]) throw new Error(`this script does not read elements of type ${tensor.number}`);
  const [type, List] = kTypes[tensor.number];
  return {...tensor, type, data: new List(Uint8Array.from(tensor.raw).buffer)};
}

/** A code of float16 as a number. */
function halfToNumber(code) {
  const sign = code & 0x8000 ? -1 : 1, exponent = (code >> 10) & 31, fraction = code & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

/** Why `got` is no right result; '' if it is one. */
function differenceOf(expected, got, rule, folder) {
  if (got.type !== expected.type || String(got.dims) !== String(expected.dims))
    return `expected ${expected.type}[${expected.dims}], got ${got.type}[${got.dims}]`;
  const bounds = typeof rule.bound === 'string' ? readTensor(path.join(folder, rule.bound)).data : null;
  const areCodes = ({type, data}) => type === 'float16' && data instanceof Uint16Array;
  const valueOf = (tensor, i) => areCodes(tensor) ? halfToNumber(tensor.data[i]) : tensor.data[i];
  for (let i = 0; i < expected.data.length; ++i) {
    const want = valueOf(expected, i), have = valueOf(got, i), bound = bounds ? bounds[i] : rule.bound;
    const areFinite = typeof want === 'bigint' || (Number.isFinite(want) && Number.isFinite(have));
    let isRight = want === have || Object.is(want, have);  // NaN is NaN
    if (rule.signOfZero && want === 0 && have === 0) isRight = Object.is(want, have);
    else if (areFinite && rule.compare === 'class') isRight = true;
    else if (areFinite && bound > 0) isRight = Math.abs(have - want) <= bound;
    if (!isRight) return `${rule.name}, element ${i}: expected ${want} within ${bound}, got ${have}`;
  }
  return '';
}

/** NaN in place of the elements that the flags hide; nothing for integers, which have no NaN. */
function fillHidden({type, data}, flags) {
  if (!type.startsWith('float')) return;
  for (let i = 0; i < flags.length; ++i)
    if (flags[i]) data[i] = type === 'float16' ? 0x7e00 : NaN;
}

/** Runs a data set; returns the first difference. */
async function runSet(session, set, place, hides) {
  const feeds = {};
  for (const file of readdirSync(place).filter((name) => name.startsWith('input_'))) {
    const tensor = readTensor(path.join(place, file)), flags = file.replace('input', 'hidden');
    if (hides && set.hidden.includes(flags)) fillHidden(tensor, readTensor(path.join(place, flags)).data);
    feeds[tensor.name] = new ort.Tensor(tensor.type, tensor.data, tensor.dims);
  }
  const outputs = await session.run(feeds);
  for (const [i, rule] of set.outputs.entries()) {
    const why = differenceOf(readTensor(path.join(place, `output_${i}.pb`)), outputs[rule.name], rule, place);
    if (why) return `${hides ? 'with NaN in hidden elements: ' : ''}${why} (${set.case})`;
  }
  return '';
}

async function runFolder(folder) {
  const {sets} = JSON.parse(readFileSync(path.join(folder, 'bound.json'), 'utf8'));
  const session = await ort.InferenceSession.create(path.join(folder, 'model.onnx'));
  // The package returns memory of an unknown size for types that JavaScript does not have, and the process ends.
  for (const {name, type} of session.outputMetadata)
    if (!Object.values(kTypes).some(([known]) => known === type)) throw new Error(`the package returns no ${type}: ${name}`);
  const rounds = [...sets, sets[0]].map((set) => [set, false]);
  rounds.push(...sets.filter((set) => set.hidden.length > 0).map((set) => [set, true]));
  for (const [set, hides] of rounds) {
    const why = await runSet(session, set, path.join(folder, set.set), hides);
    if (why) return why;
  }
  return '';
}

/** In the process that runs folders. */
async function answer(folder) {
  try {
    const why = await runFolder(folder);
    process.send([why ? 'differs' : 'right', why]);
  } catch (error) {
    process.send(['refused', error.message.split('\n')[0]]);
  }
}

let worker = null;
/** The outcome of a folder, and why. */
function outcomeOf(folder) {
  worker ??= fork(process.argv[1], {stdio: ['ignore', 'inherit', 'ignore', 'ipc']});
  return new Promise((resolve) => {
    const end = (outcome) => {
      clearTimeout(clock);
      worker.removeAllListeners();
      if (outcome[0] === 'hangs') worker.kill('SIGKILL');
      if (outcome[0] === 'hangs' || outcome[0] === 'ends') worker = null;
      resolve(outcome);
    };
    const clock = setTimeout(() => end(['hangs', 'no answer for 30 seconds']), 30000);
    worker.on('message', end);
    worker.on('exit', (code, signal) => end(['ends', `the process ended with ${signal ?? code}`]));
    worker.send(folder);
  });
}

async function runAll(parent) {
  const counts = {right: 0, differs: 0, refused: 0, hangs: 0, ends: 0};
  for (const name of readdirSync(parent).sort()) {
    const [outcome, why] = await outcomeOf(path.join(parent, name));
    ++counts[outcome];
    console.log(`${outcome} ${name}${why && `: ${why}`}`);
  }
  worker?.kill();
  console.log(Object.entries(counts).map(([outcome, count]) => `${outcome}: ${count}`).join(', '));
  process.exitCode = counts.differs + counts.hangs + counts.ends > 0 ? 1 : counts.right > 0 ? 0 : 3;
}

if (process.send) process.on('message', answer);
else await runAll(process.argv[2]);
