// Checks the import of operators of com.microsoft and ai.onnx.ml against ONNX Runtime; contrib.sh fetches it and starts this.
//   node contrib.mjs PACKAGES BIN OUTPUT BACKENDS ROUNDS [FILTER]
// PACKAGES holds node_modules with onnxruntime-node. Every case of contrib_cases.mjs and learning_cases.mjs whose name holds
// FILTER becomes OUTPUT/contrib/NAME in the ONNX backend-test form, with ONNX Runtime's outputs without optimisations.
// op-harness conformance checks them on BACKENDS, separated by commas. Prints a row per case. With ROUNDS other than 0 the cases are
// those of typical sizes, with a FILTER all; the CPU and ONNX Runtime, optimised, take turns of 25 runs on one thread. Exit
// codes: 0, 1 if a case fails, 2 if there is none, 3 if ONNX Runtime runs none.
import {spawnSync} from 'node:child_process';
import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';

import {arrayOf, elementCount, halfBits, modelOfNodes, modelOfOneNode, packedNibbles, writeProto} from './onnx_bytes.mjs';
import {kCases, kTypical} from './contrib_cases.mjs';
import {kLearning} from './learning_cases.mjs';

const [packages, bin, output, backendList, rounds, filter = ''] = process.argv.slice(2);
const kRuns = 25;  // of a turn
const backends = backendList.split(',');
const ort = createRequire(`${packages}/package.json`)('onnxruntime-node');
ort.env.logLevel = 'fatal';

/** Numbers in [0, 1), the same for every run: a linear congruential generator. */
function randomNumbers(seed) {
  let state = (seed * 7919 + 12345) % 2147483647;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** The elements of an input, as numbers. */
function numbersFor({dims, values, range, scale, tokens}, next) {
  const length = elementCount(dims);
  if (values) {
    if (values.length !== length) throw new Error(`${values.length} values for ${length} elements`);
    return values;
  }
  if (range) return Array.from({length}, () => range[0] + Math.floor(next() * (range[1] - range[0] + 1)));
  const sampleOf = (i) => Math.floor(i / elementCount(dims.slice(1))), tokenOf = (i) => Math.floor(i / dims[3]) % dims[2];
  const isEmpty = (i) => tokens && tokenOf(i) >= tokens[sampleOf(i)];
  return Array.from({length}, (_, i) => (2 * next() - 1) * (isEmpty(i) ? 0 : scale));
}

/** The input as {name, type, dims, tensor}, and `data` if it is a constant. */
function inputFor(input, k, next) {
  if (!input) return null;
  const {type, dims} = input;
  const Data = arrayOf(type);
  const named = input.name ?? `x${k}`;
  const convert = type === 'float16' ? halfBits : type.endsWith('int64') ? BigInt : type === 'string' ? String : Number;
  const numbers = numbersFor(input, next);
  const data = type.endsWith('int4') ? packedNibbles(numbers) : Data.from(numbers, convert);
  return {name: named, type, dims, tensor: {type, dims, data}, ...(input.constant && {data})};
}

/** The model of a case: its `nodes`, whose inputs are the case's, or one node. */
function modelOf(test, inputs) {
  const {opset = 17, version = 1, outputs = ['y'], attributes = {}, domain = 'com.microsoft', op = test.name.split(' ')[0]} = test;
  if (!test.nodes) return modelOfOneNode({op, domain, attributes, inputs, outputs, opset, version});
  return modelOfNodes({nodes: test.nodes, inputs, outputs: outputs.map((name) => ({name})), domains: {'': opset, [domain]: version}});
}

/** The same with maps of scores, which ONNX Runtime's JavaScript does not give, in place of the output `maps.of`. */
function withMaps(test, inputs) {
  const {maps, domain, version = 1, opset = 17} = test, made = `${maps.of}_maps`;
  const node = {op: 'ZipMap', domain, attributes: maps.attributes, inputs: [maps.of], outputs: [made]};
  const outputs = test.outputs.map((name) => name === maps.of ? {name: made, maps: maps.keys} : {name});
  return modelOfNodes({nodes: [...test.nodes, node], inputs, outputs, domains: {'': opset, [domain]: version}});
}

/** Writes a case with ONNX Runtime's outputs to a folder. */
async function write(test, folder) {
  const next = randomNumbers(test.name.length + test.inputs.length);
  const inputs = test.inputs.map((input, k) => inputFor(input, k, next));
  const set = `${folder}/test_data_set_0`;
  mkdirSync(set, {recursive: true});
  writeFileSync(`${folder}/model.onnx`, modelOf(test, inputs));
  writeFileSync(`${folder}/data.json`, JSON.stringify(test.bounds ?? {atol: 2e-6, rtol: 1e-4}));
  const session = await ort.InferenceSession.create(
      `${folder}/model.onnx`, {intraOpNumThreads: 1, graphOptimizationLevel: 'disabled', logSeverityLevel: 4});
  const feeds = inputs.filter((input) => input && !input.data);
  feeds.forEach(({name, tensor}, k) => writeProto(`${set}/input_${k}.pb`, name, tensor));
  const results = await session.run(
      Object.fromEntries(feeds.map(({name, tensor}) => [name, new ort.Tensor(tensor.type, tensor.data, tensor.dims)])));
  const nameOf = (name) => name === test.maps?.of ? `${name}_maps` : name;
  session.outputNames.forEach((name, k) => writeProto(`${set}/output_${k}.pb`, nameOf(name), results[name]));
  if (test.maps) writeFileSync(`${folder}/model.onnx`, withMaps(test, inputs));
  return feeds;
}

/** Writes the cases; returns {name, folder, error} of each. */
async function writeAll(cases) {
  const written = [];
  for (const test of cases) {
    const folder = test.name.replaceAll(/[^A-Za-z0-9_]+/g, '_');
    try {
      const feeds = await write(test, `${output}/contrib/${folder}`);
      written.push({name: test.name, folder, feeds});
    } catch (error) {
      rmSync(`${output}/contrib/${folder}`, {recursive: true, force: true});
      written.push({name: test.name, folder, error: String(error.message ?? error).split('\n')[0]});
    }
  }
  return written;
}

/** The lines of op-harness conformance, by folder and backend. */
function conformance() {
  const lines = `${output}/conformance.jsonl`;
  spawnSync(`${bin}/op-harness`, ['conformance', `${output}/contrib`, '--backend', backends.join(','), '--json', lines],
            {stdio: ['ignore', 'ignore', 'inherit']});
  const found = new Map();
  for (const text of readFileSync(lines, 'utf8').split('\n').filter(Boolean)) {
    const line = JSON.parse(text);
    if (line.kind === 'conformance') found.set(`${line.id.split('/').pop()} ${line.backend}`, line);
  }
  return found;
}

/** The least time of a run in ms: {theirs, ours}, or {error}. */
async function leastTimes({folder, feeds}) {
  const model = `${output}/contrib/${folder}/model.onnx`, facts = `${output}/times.json`;
  const session = await ort.InferenceSession.create(
      model, {intraOpNumThreads: 1, interOpNumThreads: 1, graphOptimizationLevel: 'all', logSeverityLevel: 4});
  const tensors = Object.fromEntries(
      feeds.map(({name, tensor}) => [name, new ort.Tensor(tensor.type, tensor.data, tensor.dims)]));
  const inputs = feeds.flatMap(({name}, k) => ['--input', `${name}=${output}/contrib/${folder}/test_data_set_0/input_${k}.pb`]);
  const least = {theirs: Infinity, ours: Infinity};
  for (let round = 0; round < Number(rounds); ++round) {
    for (let run = 0; run < kRuns; ++run) {
      const begin = performance.now();
      await session.run(tensors);
      least.theirs = Math.min(least.theirs, performance.now() - begin);
    }
    const {status} = spawnSync(
        `${bin}/op-run`, [model, ...inputs, '--threads', '1', '--repeat', String(kRuns), '--json', facts], {stdio: ['ignore', 'ignore', 'inherit']});
    if (status !== 0) return {error: `op-run ends with exit code ${status}`};
    least.ours = Math.min(least.ours, ...JSON.parse(readFileSync(facts, 'utf8')).steps[0].runNs.map((ns) => ns / 1e6));
  }
  rmSync(facts);
  return least;
}

rmSync(`${output}/contrib`, {recursive: true, force: true});
rmSync(`${output}/conformance.jsonl`, {force: true});
const isTimed = rounds !== '0';
const kWritten = [...kCases, ...kLearning];
const all = isTimed ? [...(filter ? kWritten : []), ...kTypical] : kWritten;
const chosen = all.filter(({name}) => name.includes(filter));
if (chosen.length === 0) {
  console.error(`contrib.mjs: no case has '${filter}' in its name`);
  process.exit(2);
}
const written = await writeAll(chosen);
if (written.every(({error}) => error)) {
  console.error(`contrib.mjs: ONNX Runtime runs no case: ${written[0].error}`);
  process.exit(3);
}
const lines = conformance();
let passed = 0, failed = 0, skipped = 0;
for (const test of written) {
  const {name, folder, error} = test;
  if (error) {
    ++skipped;
    console.log(`${name}: not judged, ONNX Runtime: ${error}`);
    continue;
  }
  const states = backends.map((backend) => lines.get(`${folder} ${backend}`) ?? {status: 'missing'});
  let isRight = states.every(({status}) => status === 'pass'), times = '';
  if (isTimed && isRight) {
    const {theirs, ours, error: untimed} = await leastTimes(test);
    isRight = !untimed;
    times = untimed ? `; not timed: ${untimed}` :
        `; ${ours.toPrecision(3)} ms, ONNX Runtime ${theirs.toPrecision(3)} ms, ratio ${(ours / theirs).toFixed(2)}`;
  }
  isRight ? ++passed : ++failed;
  console.log(`${name}: ${backends.map((backend, i) => `${backend} ${states[i].status}`).join(', ')}${times}`);
  for (const reason of new Set(states.map((line) => line.reason).filter(Boolean))) console.log(`  ${reason}`);
}
console.log(`${passed} cases pass, ${failed} fail, ${skipped} not judged`);
process.exitCode = failed > 0 ? 1 : 0;
