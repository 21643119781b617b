// Times single nodes of drawn shapes on the CPU, with OpKit and ONNX Runtime in turns; hunt.sh fetches it and starts this.
//   node hunt.mjs JOB
// JOB is JSON: {packages, bin, output, record, keep, seed, operators, count, draws, threads, rounds, budget, worst, turn, simd}. Each
// entry of hunt_cases.mjs gives `count` cases, drawn from `seed`, the entry's name and the number of the draw; first one case of each
// entry, then the second ones, until `budget` seconds are over. OpKit's outputs must agree with ONNX Runtime's. A turn is a session
// or a process of `turn` ms. Exit codes: 0, 1 if outputs differ or OpKit does not run a case, 2 if an operator is unknown, 3 if nothing was
// timed, 130 and 143 if interrupted.
import {spawnSync} from 'node:child_process';
import {cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';

import {kEntries} from './hunt_cases.mjs';
import {Draws, elementsOf, hashOf, opOf, textOf} from './hunt_draws.mjs';
import {printSummary, writeRecord} from './hunt_table.mjs';
import {modelOfOneNode, writeProto} from './onnx_bytes.mjs';

const job = JSON.parse(process.argv[2]);
const require = createRequire(`${job.packages}/package.json`);
const ort = require('onnxruntime-node');
ort.env.logLevel = 'fatal';
const {version} = require('onnxruntime-node/package.json');
const kSuspicious = 1.2;                // a case with a larger ratio gets three times as many rounds
const kLeastRuns = 5, kMostRuns = 500;  // of a turn
const shortType = (type) => type.replace('float', 'f').replace('uint', 'u').replace('int', 'i');
const began = Date.now(), simd = job.simd ? ['--simd', job.simd] : [], folder = `${job.output}/case`;
let interrupted = 0;
process.on('SIGINT', () => {
  interrupted = 130;
});
process.on('SIGTERM', () => {
  interrupted = 143;
});
process.on('SIGHUP', () => {
  interrupted = 129;
});

const isOver = () => interrupted || (job.budget > 0 && Date.now() - began > job.budget * 1000);
const least = (values) => Math.min(...values);
const shortOf = (error) => String(error.message ?? error).split('\n')[0].slice(0, 200);

/** The case of an entry's draw: its parts, the text of its shapes, and its inputs with data. */
function draw(entry, k) {
  const r = new Draws(hashOf(`${entry.name} ${job.seed} ${k}`)), test = entry.draw(r);
  const inputs = test.inputs.map((input, i) => {
    if (!input) return null;
    const tensor = {type: input.type, dims: input.dims, data: elementsOf(input, r.next)};
    return {name: `x${i}`, ...tensor, tensor, data: input.constant ? tensor.data : undefined};
  });
  const dtype = test.inputs.find((input) => input && !input.constant).type;
  return {...test, inputs, dtype: shortType(dtype), text: test.text ?? textOf(test), feeds: inputs.filter((input) => input && !input.data)};
}

const open = (threads, options) => ort.InferenceSession.create(
    `${folder}/model.onnx`,
    {intraOpNumThreads: threads, interOpNumThreads: 1, graphOptimizationLevel: 'all', logSeverityLevel: 4, ...options});

/** Writes a case with ONNX Runtime's outputs as a backend test. */
async function write(entry, test) {
  const {
    op = opOf(entry),
    attributes = {},
    outputs = ['y'],
    domain = '',
    opset = 17,
    version: edition,
    inputs,
    feeds
  } = test,
  set = `${folder}/test_data_set_0`;
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(set, {recursive: true});
  writeFileSync(`${folder}/model.onnx`, modelOfOneNode({op, domain, attributes, inputs, outputs, opset, version: edition}));
  feeds.forEach(({name, tensor}, i) => writeProto(`${set}/input_${i}.pb`, name, tensor));
  test.tensors = Object.fromEntries(feeds.map(({name, tensor}) => [name, new ort.Tensor(tensor.type, tensor.data, tensor.dims)]));
  const session = await open(1);
  test.results = await session.run(test.tensors);  // later runs write here: new memory would cost its first touch
  test.outputNames = session.outputNames;
  session.outputNames.forEach((name, i) => writeProto(`${set}/output_${i}.pb`, name, test.results[name]));
  await session.release?.();
}

/**
 * The least times of a run of ONNX Runtime in a new session, in ns, as its profile has them: {kernels, call}, of the kernels and
 * of the run as a whole. Its JavaScript interface copies the outputs and takes more than many a kernel.
 */
async function runTheirs(test, threads) {
  const session = await open(threads, {enableProfiling: true, profileFilePrefix: `${folder}/profile`});
  const end = Date.now() + job.turn;
  for (let run = 0; run < kLeastRuns || (run < kMostRuns && Date.now() < end); ++run) await session.run(test.tensors, test.results);
  session.endProfiling();
  await session.release?.();
  const file = `${folder}/${readdirSync(folder).find((name) => name.startsWith('profile'))}`, best = {kernels: Infinity, call: Infinity};
  let kernels = 0;
  for (const {cat, name, dur} of JSON.parse(readFileSync(file, 'utf8'))) {
    if (cat === 'Node' && name.endsWith('_kernel_time')) kernels += dur * 1000;
    if (name !== 'model_run') continue;
    best.kernels = Math.min(best.kernels, kernels);
    best.call = Math.min(best.call, dur * 1000);
    kernels = 0;
  }
  rmSync(file);
  return best;
}

/** The same of OpKit in a new process, or {error, code}. */
function runOurs(test, threads, runs, ...options) {
  const record = `${job.output}/op_run.json`;
  const inputs = test.feeds.flatMap(({name}, i) => ['--input', `${name}=${folder}/test_data_set_0/input_${i}.pb`]);
  const child = spawnSync(
      `${job.bin}/op-run`,
      [`${folder}/model.onnx`, ...inputs, '--threads', String(threads), '--repeat', String(runs), '--json', record, ...simd, ...options],
      {stdio: ['ignore', 'ignore', 'pipe'], timeout: 120000, encoding: 'utf8'});
  if (child.status === 0) return {ns: least(JSON.parse(readFileSync(record, 'utf8')).steps[0].runNs)};
  return {
    code: child.status,
    error: child.stderr.trim().split('\n').pop() || `op-run ended with ${child.signal ?? `exit code ${child.status}`}`
  };
}

/** Whether OpKit's outputs agree: {ns} of its runs, or {error, code}. */
function check(test) {
  const {atol = 1e-5, rtol = 1e-3} = test.bounds ?? {};
  return runOurs(
      test, 1, 3, '--atol', String(atol), '--rtol', String(rtol),
      ...test.outputNames.flatMap((name, i) => ['--expect', `${name}=${folder}/test_data_set_0/output_${i}.pb`]));
}

/** How far the median turn of a side lies above its least, as a share: a ratio may move as much. */
const spreadOf = ({theirs, ours}) =>
    Math.max(...[theirs, ours].map((values) => [...values].sort((a, b) => a - b)[values.length >> 1] / least(values) - 1));

/** Turns of both sides: {theirs, call, ours, ratio, spread}, or {error}. */
async function timeInTurns(test, threads, estimate) {
  const times = {theirs: [], ours: []}, calls = [];
  const ratio = () => least(times.ours) / least(times.theirs);
  const runs = Math.min(Math.max(Math.round(job.turn * 1e6 / estimate), kLeastRuns), 20000);
  const sides = {
    theirs: async () => {
      const {kernels, call} = await runTheirs(test, threads);
      calls.push(call);
      return {ns: Math.max(kernels, 1000)};  // the profile counts microseconds
    },
    ours: () => runOurs(test, threads, runs)
  };
  for (let round = 0; round < job.rounds || (round < 3 * job.rounds && ratio() > kSuspicious); ++round) {
    for (const side of round % 2 === 0 ? ['theirs', 'ours'] : ['ours', 'theirs']) {
      const {ns, error} = interrupted ? {error: 'interrupted'} : await sides[side]();
      if (error) return {error};
      times[side].push(ns);
    }
  }
  return {theirs: least(times.theirs), call: least(calls), ours: least(times.ours), ratio: ratio(), spread: spreadOf(times)};
}

/** Judges one draw; adds rows: times, or {state, error}. */
async function judge(entry, k, rows) {
  const row = {name: entry.name, k};
  const fail = (state, error) => {
    rows.push({...row, state, error});
    console.log(`${entry.name} ${k}: ${row.text ?? ''}: ${state}: ${error}`);
  };
  let test;
  try {
    test = draw(entry, k);
    Object.assign(row, {dtype: test.dtype, text: test.text});
    await write(entry, test);
  } catch (error) {
    return fail('not judged', `ONNX Runtime: ${shortOf(error)}`);
  }
  const checked = check(test);
  if (job.keep) cpSync(folder, `${job.keep}/${entry.name.replaceAll(/[^A-Za-z0-9]+/g, '_')}_${k}`, {recursive: true});
  if (checked.code === 1) return fail('differs', `the outputs differ from those of ONNX Runtime`);
  if (checked.error) return fail('not run', checked.error);
  for (const threads of job.threads) {
    const times = await timeInTurns(test, threads, checked.ns);
    if (interrupted) return;
    if (times.error) return fail('not run', times.error);
    rows.push({...row, threads, ...times});
  }
}

/** The entries of the operators that were asked for, by name or by operator, in an order of the seed. */
function entriesOf(operators) {
  for (const name of operators)
    if (!kEntries.some((entry) => entry.name === name || opOf(entry) === name))
      throw new Error(`no entry of hunt_cases.mjs is called '${name}'`);
  const chosen = kEntries.filter((entry) => operators.length === 0 || operators.includes(entry.name) || operators.includes(opOf(entry)));
  return chosen.sort((a, b) => hashOf(`${a.name}/${job.seed}`) - hashOf(`${b.name}/${job.seed}`));
}

/** Draws and judges cases until all are done or the time is over; returns how many are left. */
async function judgeAll(entries, rows) {
  const draws = job.draws.length > 0 ? job.draws : Array.from({length: job.count}, (_, k) => k);
  let left = entries.length * draws.length;
  for (const k of draws) {
    for (const entry of entries) {
      if (isOver()) return left;
      --left;
      await judge(entry, k, rows);
      if (left % 20 === 0) writeRecord(job, version, rows);
    }
  }
  return left;
}

async function main() {
  let entries;
  try {
    entries = entriesOf(job.operators);
  } catch (error) {
    console.error(`hunt: ${error.message}`);
    return 2;
  }
  const rows = [], left = await judgeAll(entries, rows);
  const count = (isCounted) => new Set(rows.filter(isCounted).map(({name, k}) => `${name} ${k}`)).size;
  const [timed, differ, notRun, notJudged] =
      [({threads}) => threads, ...['differs', 'not run', 'not judged'].map((state) => (row) => row.state === state)].map(count);
  writeRecord(job, version, rows);
  if (timed > 0) printSummary(job, rows);
  console.log(
      `${timed} cases timed, ${differ} differ, ${notRun} not run, ${notJudged} not judged` +
      (left > 0 ? `, ${left} left out when the time was over` : ''));
  if (interrupted) return interrupted;
  if (differ + notRun > 0) return 1;
  if (timed > 0) return 0;
  console.error('hunt: no case was timed');
  return 3;
}

process.exitCode = await main();
