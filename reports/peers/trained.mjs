// Checks and times trained networks against ONNX Runtime; trained.sh fetches them and starts this.
//   node trained.mjs PACKAGES TABLE BIN OUTPUT RESULTS ROUNDS LEVELS BACKEND...
// PACKAGES holds node_modules, TABLE is a table like trained_networks.json; a network's `bounds` ({atol, rtol, reason})
// become its data.json, which op-harness conformance reads; with `layers` false, for networks with gigabytes of
// tensors, only its outputs are compared. Every .onnx file of the table's packages becomes OUTPUT/networks/trained/NAME
// in the ONNX backend-test form, with ONNX Runtime's outputs. op-harness conformance checks them, each tensor of each
// network is compared with ONNX Runtime's, and those that pass are timed, in turns with ONNX Runtime, on one thread;
// with 0 rounds nothing is timed. LEVELS is none, basic and extended, separated by commas: a level takes the network as
// ONNX Runtime's optimiser writes it. Lines go to RESULTS (reports/schema.md). Exit codes: 0, 1 if a network fails, 2
// if the table is wrong or a package lacks a file of it, 3 if ONNX Runtime runs none, 130 and 143 if interrupted.
import {spawnSync} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {appendFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';

import {compareLayers} from './layer_compare.mjs';
import {makeFile, runOurs, runPeer} from './networks.mjs';

const [packages, tablePath, bin, output, resultsPath, roundsText, levels, ...backends] = process.argv.slice(2);
const rounds = Number(roundsText), runsPerRound = 15;
const peer = 'onnxruntime';
const place = {packages, bin, output};

let interrupted = 0;
process.on('SIGINT', () => { interrupted = 130; });
process.on('SIGTERM', () => { interrupted = 143; });
process.on('SIGHUP', () => { interrupted = 129; });
/** Lets a signal's handler run: children are waited for, and they got the signal too. */
const breathe = () => new Promise((resolve) => setImmediate(resolve));

/** The table's networks, then the other .onnx files of its packages, at each level: [{name, file, inputs, level}]. */
function networksOf(table) {
  const networks = [...table.networks];
  networks.forEach((network) => makeFile(place, network));
  const known = new Set(networks.map(({file}) => file));
  for (const name of Object.keys(table.packages).filter((name) => name !== 'onnxruntime-node')) {
    const root = `${packages}/node_modules/${name}`;
    for (const entry of readdirSync(root, {recursive: true}).sort()) {
      const file = `${name}/${entry}`;
      if (!file.endsWith('.onnx') || entry.includes('node_modules/') || known.has(file)) continue;
      networks.push({name: path.basename(file, '.onnx'), file, inputs: {}});
    }
  }
  return levels.split(',').flatMap((level) => networks.map(
      (network) => level === 'none' ? {...network} : {...network, level, name: `${network.name}_${level}`}));
}

function statistics(samples) {
  const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
  const middle = median(samples);
  return {
    min: Math.min(...samples), median: middle, mad: median(samples.map((value) => Math.abs(value - middle))), samples};
}

/** The lines of one run in RESULTS, from the facts of the last run there. */
class ResultRun {
  constructor(planned) {
    const facts = linesFrom(0).filter((line) => line.record === 'run').pop() ?? {schema: 1};
    this.run = randomBytes(8).toString('hex');
    this.counts = {};
    this.write({...facts, record: 'run', run: this.run, command: 'trained', planned, started: this.now(), seed: 1});
  }
  now() { return new Date().toISOString().replace(/\.\d+/, ''); }
  write(line) { appendFileSync(resultsPath, JSON.stringify(line) + '\n'); }
  addCase(line) {
    this.counts[line.status] = (this.counts[line.status] ?? 0) + 1;
    this.write({record: 'case', run: this.run, op: '', ...line});
  }
  close() {
    const lines = Object.values(this.counts).reduce((a, b) => a + b, 0);
    const outcome = interrupted ? 'interrupted' : 'complete';
    const executed = lines - (this.counts.skip ?? 0);
    this.write({record: 'summary', run: this.run, outcome, ended: this.now(), lines, executed, ...this.counts});
  }
}

const linesFrom = (offset) => existsSync(resultsPath) ?
    readFileSync(resultsPath).subarray(offset).toString().split('\n').filter(Boolean).map((line) => JSON.parse(line)) : [];

/** Times a network in turns: one round of ONNX Runtime, one of each backend. Returns {who: {times} or {error}}. */
async function timeInTurns(network, chosen) {
  const all = Object.fromEntries([peer, ...chosen].map((who) => [who, {times: []}]));
  for (let round = 0; round < rounds && !interrupted; ++round) {
    for (const [who, result] of Object.entries(all)) {
      const one = who === peer ? runPeer(place, network, `${output}/timed`, {runs: runsPerRound}) :
          runOurs(place, network.folder, who, network.inputNames, '--repeat', String(runsPerRound + 3), '--threads', '1');
      if (one.error) result.error = one.error;
      else result.times.push(...(who === peer ? one.times : one.times.slice(3)));
      await breathe();
    }
  }
  return all;
}

/** Compares every tensor of a network with ONNX Runtime's: a line of kind model per backend. */
function layerLines(network, chosen) {
  const folder = `${output}/layers/${network.name}`;
  const theirs = chosen.length > 0 ? runPeer(place, network, folder, {runs: 1, layers: true, model: `${network.folder}/model.onnx`}) : {};
  const lines = chosen.map((backend) => {
    const ours = theirs.error ? {} : runOurs(place, folder, backend, theirs.inputs, '--output', `${folder}/${backend}`);
    const error = theirs.error ? `ONNX Runtime: ${theirs.error}` : ours.error;
    const compared = error ? {status: 'fail', reason: `not compared: ${error}`, layers: []} :
        compareLayers(theirs.tensors, folder, `${folder}/${backend}`);
    return {kind: 'model', id: network.id, backend, ...compared};
  });
  if (lines.every(({status}) => status === 'pass')) rmSync(folder, {recursive: true, force: true});
  return lines;
}

const milliseconds = (ns) => (ns / 1e6).toPrecision(3);
const timeText = (times) => times ? `${milliseconds(times.median)}/${milliseconds(times.min)}` : '';

function printTable(rows) {
  const head = ['network', 'backend', 'status', 'max error', 'tensors', 'OpKit ms', 'ONNX Runtime ms', 'ratio', ''];
  const table = [head, ...rows];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  for (const row of table) console.log(row.map((cell, k) => cell.padEnd(widths[k])).join('  ').trimEnd());
  if (rounds > 0) console.log('Times are MEDIAN/LEAST of one thread; ONNX Runtime uses the CPU. The ratio is least / least.');
}

/** Runs op-harness conformance on what was written; returns its lines by id and backend. */
function conformance() {
  const before = existsSync(resultsPath) ? statSync(resultsPath).size : 0;
  spawnSync(
      `${bin}/op-harness`,
      ['conformance', `${output}/networks`, '--backend', backends.join(','), '--json', resultsPath], {stdio: 'inherit'});
  const lines = linesFrom(before).filter((line) => line.kind === 'conformance');
  return new Map(lines.map((line) => [`${line.id} ${line.backend}`, line]));
}

function rowOf(network, backend, line, compared, times) {
  const ours = times?.[backend], theirs = times?.[peer];
  const ratio = ours && theirs ? (ours.min / theirs.min).toFixed(2) : '';
  const maxAbs = line.accuracy && (line.accuracy.maxAbs ?? 0);
  const error = maxAbs === undefined ? '' : Number(maxAbs).toPrecision(2);
  const status = compared?.status === 'fail' ? 'fail' : line.status;
  const reasons = [line.reason, compared?.reason].filter(Boolean).join('; ');
  const tensors = String(compared?.layers.length ?? '');
  return [network.name, backend, status, error, tensors, timeText(ours), timeText(theirs), ratio, reasons];
}

const isFailure = (line) => !['pass', 'unsupported'].includes(line?.status);

/** The lines of times, and what they say: {backend or peer: statistics}. */
async function recordTimes(network, passed, run) {
  const times = {};
  for (const [who, {times: samples, error}] of Object.entries(await timeInTurns(network, passed))) {
    if (interrupted) return {};
    if (!error) times[who] = statistics(samples);
    run.addCase({
      kind: 'bench', id: network.id, backend: who, threads: 1, provider: who === peer ? network.version : 'opkit',
      ...(error ? {status: 'fail', reason: error} : {status: 'pass', times: {executeWall: times[who]}})});
  }
  return times;
}

/** Times a network and compares its tensors, after the conformance run; returns rows of the table. */
async function finish(network, lines, run) {
  const lineOf = (backend) => lines.get(`${network.id} ${backend}`) ?? {status: 'fail', reason: 'op-harness gave no result'};
  const right = rounds > 0 ? backends.filter((backend) => lineOf(backend).status === 'pass') : [];
  const times = rounds > 0 ? await recordTimes(network, right, run) : {};
  if (interrupted) return [];
  const compared = backends.filter((backend) => lineOf(backend).status !== 'unsupported');
  const layers = network.layers === false ? [] : layerLines(network, compared);
  await breathe();
  if (interrupted) return [];
  for (const line of layers) run.addCase(line);
  return backends.map((backend) => {
    const compared = layers.find((line) => line.backend === backend);
    return rowOf(network, backend, lineOf(backend), compared, times);
  });
}

/** Writes every network with ONNX Runtime's outputs; those that it does not run get a field `error`. */
async function expectAll(networks) {
  for (const network of networks) {
    if (interrupted) return;
    network.id = `trained/${network.name}`;
    network.folder = `${output}/networks/${network.id}`;
    const {error, version, inputs} = runPeer(place, network, network.folder, {runs: 1, level: network.level});
    Object.assign(network, {error, version, inputNames: inputs});
    if (error) rmSync(network.folder, {recursive: true});
    else if (network.bounds) writeFileSync(`${network.folder}/data.json`, JSON.stringify(network.bounds));
    await breathe();
  }
}

/** The lines to come, by backend: times where the outputs are right, tensors where the network runs. */
function planOf(ran, skipped, lines) {
  const planned = rounds > 0 ? {[peer]: ran.length} : {};
  for (const backend of backends) {
    const count = (statuses) => ran.filter(({id}) => statuses.includes(lines.get(`${id} ${backend}`)?.status)).length;
    const compared = ran.filter(({id, layers}) => layers !== false && lines.get(`${id} ${backend}`)?.status !== 'unsupported');
    planned[backend] = (rounds > 0 ? count(['pass']) : 0) + compared.length + skipped.length;
  }
  return planned;
}

async function main() {
  let networks;
  try {
    networks = networksOf(JSON.parse(readFileSync(tablePath, 'utf8')));
  } catch (error) {
    console.error(`trained: ${tablePath}: ${error.message}`);
    return 2;
  }
  for (const entry of readdirSync(output).filter((name) => name !== '.trained'))
    rmSync(`${output}/${entry}`, {recursive: true});
  await expectAll(networks);
  if (interrupted) return interrupted;
  const ran = networks.filter(({error}) => !error), skipped = networks.filter(({error}) => error);
  if (ran.length === 0) {
    console.error(`trained: ONNX Runtime ran none of ${networks.length} networks: ${skipped[0]?.error ?? 'there are none'}`);
    return 3;
  }
  const lines = conformance();
  await breathe();
  if (interrupted) return interrupted;
  const run = new ResultRun(planOf(ran, skipped, lines));
  const rows = [];
  for (const {id, name, error} of skipped) {
    const line = {status: 'skip', reason: `ONNX Runtime: ${error}`};
    for (const backend of backends) run.addCase({kind: 'conformance', id, backend, ...line});
    rows.push(rowOf({name}, backends.join(','), line));
  }
  for (const network of ran) rows.push(...(interrupted ? [] : await finish(network, lines, run)));
  run.close();
  printTable(rows);
  return interrupted || (run.counts.fail > 0 || [...lines.values()].some(isFailure) ? 1 : 0);
}

process.exitCode = await main();
