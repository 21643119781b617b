// The table and the summary of hunt.mjs. A row is {name, dtype, text, k, threads, theirs, call, ours, ratio, spread} with times in ns,
// or {name, dtype, text, k, state, error} of a case that was not timed.
import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const kShortNs = 20000;  // below it a call costs more than the operator

const milliseconds = (ns) => (ns / 1e6).toPrecision(3);
const noteOf = ({theirs}) => theirs < kShortNs ? 'short' : '';
const isTimed = (row) => row.threads !== undefined;
const worstFirst = (rows) => rows.filter(isTimed).sort((a, b) => b.ratio - a.ratio);
const meanOf = (rows) => Math.exp(rows.reduce((sum, {ratio}) => sum + Math.log(ratio), 0) / rows.length);

function columnsOf({name, dtype = '', threads, text = '', theirs, call, ours, ratio, spread, state, error}) {
  if (state) return [name, dtype, '', text, '', '', '', '', '', `${state}: ${error}`];
  return [
    name, dtype, threads, text, milliseconds(theirs), milliseconds(ours), ratio.toPrecision(3), spread.toFixed(2), milliseconds(call),
    noteOf({theirs})
  ];
}

function commit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {encoding: 'utf8', cwd: here, stdio: ['ignore', 'pipe', 'ignore']}).trim();
  } catch {
    return 'unknown';
  }
}

/** Writes the rows to job.record, the largest ratio first. */
export function writeRecord(job, version, rows) {
  const cpu = /^model name\s*: (.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown';
  const lines = [
    `# ${new Date().toISOString().slice(0, 10)}, commit ${commit()}, ONNX Runtime ${version}`,
    `# ${cpu}${job.simd ? `, OpKit with --simd ${job.simd}` : ''}; least times in milliseconds`,
    'operator\tdtype\tthreads\tshapes\tONNX Runtime\tOpKit\tratio\tspread\twhole call\tnote\tseed/draw',
    ...[...worstFirst(rows), ...rows.filter((row) => !isTimed(row))].map((row) => [...columnsOf(row), `${job.seed}/${row.k}`].join('\t'))
  ];
  writeFileSync(job.record, lines.join('\n') + '\n');
}

/** Prints for each entry the number of rows, geometric mean and largest ratio; then the worst rows of all, and the means of all. */
export function printSummary(job, rows) {
  const timed = worstFirst(rows);
  const groups = [...new Set(timed.map(({name}) => name))]
                     .map((name) => {
                       const own = timed.filter((row) => row.name === name);
                       return {name, count: own.length, mean: meanOf(own), worst: own[0]};
                     })
                     .sort((a, b) => b.mean - a.mean);
  console.log(`\n${'operator'.padEnd(28)} rows  mean worst`);
  for (const {name, count, mean, worst} of groups)
    console.log(
        `${name.padEnd(28)} ${String(count).padStart(4)} ${mean.toFixed(2).padStart(5)} ` +
        `${worst.ratio.toFixed(2).padStart(5)}  ${worst.text}, ${worst.threads} threads`);
  console.log(`\nThe ${job.worst} largest ratios`);
  for (const row of timed.slice(0, job.worst))
    console.log(
        `${row.ratio.toFixed(2).padStart(6)} ${row.name}, ${row.text}, ${row.threads} threads: ` +
        `${milliseconds(row.ours)} ms, ONNX Runtime ${milliseconds(row.theirs)} ${noteOf(row)}`);
  for (const threads of job.threads) {
    const own = timed.filter((row) => row.threads === threads), above = own.filter((row) => row.ratio > 1);
    if (own.length > 0)
      console.log(`${threads} threads: ${meanOf(own).toFixed(3)} in the geometric mean of ${own.length} cases, ${above.length} above 1`);
  }
}
