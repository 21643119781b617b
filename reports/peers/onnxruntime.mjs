// Times networks on the CPU, with OpKit and ONNX Runtime in turns; onnxruntime.sh fetches them and starts this.
//   node onnxruntime.mjs JOB
// JOB is JSON: {packages, tables, bin, output, record, rounds, threads, simd, nodes, only}. Each network is written with ONNX
// Runtime's outputs, and OpKit's must agree with them, within the `bounds` of the table (1e-3 of a value and 1e-5 without).
// Each round is a process of each side. Exit codes: 0, 1 if a network's outputs differ, 2 for a wrong table, 3 if nothing
// was timed, 130 and 143 if interrupted.
import {execFileSync} from 'node:child_process';
import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {makeFile, runOurs, runPeer} from './networks.mjs';

const job = JSON.parse(process.argv[2]);
const here = path.dirname(fileURLToPath(import.meta.url));
const kWarmRuns = 3, kProcessNs = 3e8;  // of timed runs in a process
let interrupted = 0;
process.on('SIGINT', () => { interrupted = 130; });
process.on('SIGTERM', () => { interrupted = 143; });
process.on('SIGHUP', () => { interrupted = 129; });
/** Lets a signal's handler run: children are waited for, and they got the signal too. */
const breathe = () => new Promise((resolve) => setImmediate(resolve));

const least = (values) => Math.min(...values);
const simd = job.simd ? ['--simd', job.simd] : [];

/** The networks of all tables, or those that were asked for; throws if one of these is in no table. */
function networksOf(tables) {
  const networks = tables.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')).networks);
  for (const name of job.only)
    if (!networks.some((network) => network.name === name)) throw new Error(`no table has a network '${name}'`);
  return networks.filter(({name}) => job.only.length === 0 || job.only.includes(name));
}

/** Writes the network with its data; returns {inputs, runs, version}, or {error} or {differs}. */
function prepare(network, folder) {
  try {
    makeFile(job, network);
  } catch (error) {
    return {error: error.message};
  }
  const expected = runPeer(job, network, folder, {runs: 2});
  if (expected.error) return {error: `ONNX Runtime: ${expected.error}`};
  const {atol = 1e-5, rtol = 1e-3} = network.bounds ?? {};
  const ours = runOurs(
      job, folder, 'cpu', expected.inputs, '--threads', '1', ...simd, '--atol', String(atol), '--rtol', String(rtol),
      ...expected.outputs.flatMap((name, k) => ['--expect', `${name}=${folder}/test_data_set_0/output_${k}.pb`]));
  if (ours.code === 1) return {differs: 'its outputs differ from those of ONNX Runtime'};
  if (ours.error) return {error: ours.error};
  const runs = Math.round(Math.min(Math.max(kProcessNs / least(expected.times), 5), 200));
  return {inputs: expected.inputs, version: expected.version, runs};
}

/** Rounds of both sides in turns: {theirs, ours} with the least time of each process in ns, or {error}. */
async function timeInTurns(network, folder, {inputs, runs}, threads) {
  const sides = {
    theirs: () => runPeer(job, network, `${job.output}/timed`, {runs, threads}),
    ours: () => runOurs(job, folder, 'cpu', inputs, '--repeat', String(runs + kWarmRuns), '--threads', String(threads), ...simd)};
  const times = {theirs: [], ours: []};
  for (let round = 0; round < job.rounds && !interrupted; ++round) {
    for (const side of round % 2 === 0 ? ['theirs', 'ours'] : ['ours', 'theirs']) {
      const one = sides[side]();
      if (one.error) return {error: one.error};
      times[side].push(least(side === 'ours' ? one.times.slice(kWarmRuns) : one.times));
      await breathe();
    }
  }
  return times;
}

const milliseconds = (ns) => (ns / 1e6).toPrecision(3);
/** The dearest nodes of each side on one thread, "Conv Conv_62 1.2 ms, ...". */
function dearest(network, folder, {inputs}) {
  if (job.nodes === 0) return {};
  const text = (nodes) => nodes.sort((a, b) => b.ns - a.ns).slice(0, job.nodes)
      .map(({type, name, ns}) => `${type} ${name} ${milliseconds(ns)}`).join(', ');
  const profile = ['--profile', '--repeat', '10', '--threads', '1', ...simd];
  const ours = runOurs(job, folder, 'cpu', inputs, ...profile).placement ?? [];
  const theirs = runPeer(job, network, `${job.output}/timed`, {runs: 10, profile: true}).nodes ?? [];
  return {ours: text(ours.map(({type, node, hostNs}) => ({type, name: node, ns: hostNs ?? 0}))), theirs: text(theirs)};
}

/** How far the median process of a side lies above its least, as a share: a ratio may move as much. */
const spread = ({theirs, ours}) => {
  const width = (values) => [...values].sort((a, b) => a - b)[values.length >> 1] / least(values) - 1;
  return Math.max(width(theirs), width(ours));
};

async function timeNetwork(network, rows) {
  const folder = `${job.output}/networks/${network.name}`;
  const prepared = prepare(network, folder);
  for (const threads of prepared.runs ? job.threads : []) {
    const times = await timeInTurns(network, folder, prepared, threads);
    if (interrupted) return;
    if (times.error) prepared.error = times.error;
    else rows.push({name: network.name, threads, theirs: least(times.theirs), ours: least(times.ours), spread: spread(times)});
    if (!times.error) printRow(rows.at(-1));
  }
  const failure = prepared.error ?? prepared.differs;
  if (failure) rows.push({name: network.name, error: failure, differs: prepared.differs !== undefined});
  else rows.push({name: network.name, ...dearest(network, folder, prepared), version: prepared.version, nodes: true});
  if (failure) console.log(`${network.name}: ${failure}`);
  rmSync(folder, {recursive: true, force: true});
}

function printRow({name, threads, theirs, ours, spread}) {
  console.log([name.padEnd(26), String(threads).padStart(2), milliseconds(theirs).padStart(8),
    milliseconds(ours).padStart(8), (ours / theirs).toFixed(2).padStart(6), `${(100 * spread).toFixed(0)} %`.padStart(6)].join(' '));
}

/** Geometric means of the ratios, by number of threads. */
function means(rows) {
  return job.threads.flatMap((threads) => {
    const ratios = rows.filter((row) => row.threads === threads).map(({ours, theirs}) => Math.log(ours / theirs));
    const mean = Math.exp(ratios.reduce((sum, value) => sum + value, 0) / ratios.length);
    return ratios.length === 0 ? [] : [{threads, mean, count: ratios.length, above: ratios.filter((one) => one > 0).length}];
  });
}

/** The record that the nightly page shows: `#` lines, then columns (reports/schema.md). */
function writeRecord(rows) {
  const run = (program, ...words) => execFileSync(program, words, {encoding: 'utf8', cwd: here}).trim();
  const cpu = /^model name\s*: (.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown';
  const version = rows.find((row) => row.version)?.version;
  const nodesOf = (name, side) => rows.find((row) => row.nodes && row.name === name)?.[side] ?? '';
  const lines = [
    `# ${new Date().toISOString().slice(0, 10)}, commit ${run('git', 'rev-parse', '--short', 'HEAD')}, ONNX Runtime ${version}`,
    `# ${cpu}${job.simd ? `, OpKit with --simd ${job.simd}` : ''}; least of ${job.rounds} processes each, in turns, milliseconds`,
    'network\tthreads\tONNX Runtime\tOpKit\tratio\tspread\tdearest nodes of OpKit\tof ONNX Runtime'];
  for (const {name, threads, theirs, ours, spread} of rows.filter((row) => row.threads))
    lines.push([name, threads, milliseconds(theirs), milliseconds(ours), (ours / theirs).toPrecision(3), spread.toFixed(3),
      ...(threads === job.threads[0] ? [nodesOf(name, 'ours'), nodesOf(name, 'theirs')] : ['', ''])].join('\t'));
  for (const {name, error} of rows.filter((row) => row.error)) lines.push(`${name}\t\t\t\t\t\t${error}\t`);
  writeFileSync(job.record, lines.join('\n') + '\n');
}

async function main() {
  let networks;
  try {
    networks = networksOf(job.tables);
  } catch (error) {
    console.error(`onnxruntime: ${error.message}`);
    return 2;
  }
  mkdirSync(`${job.output}/timed`, {recursive: true});
  console.log(`${'network'.padEnd(23)} threads  ONNX Runtime  OpKit, ms  ratio spread`);
  const rows = [];
  for (const network of networks) {
    if (!interrupted) await timeNetwork(network, rows);
  }
  for (const {threads, mean, count, above} of means(rows))
    console.log(`${threads} threads: ${mean.toFixed(3)} in the geometric mean of ${count} networks, ${above} above 1`);
  if (interrupted) return interrupted;
  if (!rows.some((row) => row.threads)) {
    console.error('onnxruntime: no network was timed');
    return 3;
  }
  writeRecord(rows);
  return rows.some((row) => row.differs) ? 1 : 0;
}

process.exitCode = await main();
