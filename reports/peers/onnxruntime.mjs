// One float model on ONNX Runtime: times it, and writes what it was given and what it gave as .npy.
//   node onnxruntime.mjs MODEL.onnx INPUT-SHAPE THREADS RUNS FOLDER
// Prints the median and the least of the runs in ms, the first three left out, and the names of the input and the output.
// FOLDER gets input.npy and output.npy.
import ort from 'onnxruntime-node';
import {writeFileSync} from 'node:fs';

const [model, shapeText, threads, runs, folder] = process.argv.slice(2);
const shape = shapeText.split('x').map(Number);
const count = (extents) => extents.reduce((product, extent) => product * extent, 1);

function writeNpy(path, extents, values) {
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${extents.join(', ')},), }`;
  const padded = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + '\n';
  const head = Buffer.from('\x93NUMPY\x01\x00..' + padded, 'latin1');
  head.writeUInt16LE(padded.length, 8);
  writeFileSync(path, Buffer.concat([head, Buffer.from(values.buffer, values.byteOffset, values.byteLength)]));
}

/// The same values every time: a linear congruential generator, in [-1, 1).
function randomValues(length) {
  let state = 1;
  return Float32Array.from({length}, () => (state = (state * 48271) % 2147483647) / 1073741824 - 1);
}

const session = await ort.InferenceSession.create(
    model, {intraOpNumThreads: Number(threads), interOpNumThreads: 1, graphOptimizationLevel: 'all'});
const input = new ort.Tensor('float32', randomValues(count(shape)), shape);
const times = [];
let output;
for (let i = 0; i < Number(runs); ++i) {
  const begin = performance.now();
  output = (await session.run({[session.inputNames[0]]: input}))[session.outputNames[0]];
  times.push(performance.now() - begin);
}
writeNpy(`${folder}/input.npy`, shape, input.data);
writeNpy(`${folder}/output.npy`, output.dims, output.data);
const warm = times.slice(3).sort((a, b) => a - b);
console.log(warm[warm.length >> 1].toFixed(2), warm[0].toFixed(2), session.inputNames[0], session.outputNames[0]);
