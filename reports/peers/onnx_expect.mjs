// Runs one network on ONNX Runtime and writes it as an ONNX backend test: FOLDER/model.onnx and
// FOLDER/test_data_set_0/{input,output}_K.pb.
//   node onnx_expect.mjs JOB
// JOB is JSON: {packages, model, folder, inputs, threads, runs, layers, level, profile}. `packages` is the folder that holds
// node_modules with onnxruntime-node. `inputs` gives {NAME: {shape, scale, value, below, pattern}} where the network
// leaves extents free or random values in [-1, 1) times `scale` will not do; `below` draws integers from 0 to before
// it; the pattern "text" is dark strokes in lines. With `layers`, FOLDER gets the network with every tensor as an
// output, and layer_K.npy, its values without optimisations, instead of the data set's outputs. With `level` (basic or
// extended), FOLDER/model.onnx is the network as ONNX Runtime's optimiser writes it; the outputs are those of the
// network itself. With `profile`, the line has `nodes`: {name, type, ns} of each node of the optimised network, means
// over the runs.
// Prints one line of JSON: {version, inputs, outputs, times, tensors, nodes} with the times of the runs in ns (three more went before), or
// {error} with one line.
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';

import {arrayOf, elementCount, isFloat, withEveryTensor, writeNpy, writeProto} from './onnx_bytes.mjs';

const kWarmRuns = 3;

/** The same values every time: a linear congruential generator, in [-1, 1) times `scale`. */
function randomValues(length, scale) {
  let state = 1;
  return Float32Array.from({length}, () => ((state = (state * 48271) % 2147483647) / 1073741824 - 1) * scale);
}

/** Images [N, C, H, W] of 1 with strokes of -1 in lines of text, some 16 rows high, another text on each image. */
function textValues([images, channels, height, width]) {
  const dark = (image, y, x) => {
    const stroke = Math.floor(x / 3), row = Math.floor(y / 3);
    const inLine = y % 32 >= 8 && y % 32 < 24 && x >= 16 && x < width - 16;
    return inLine && (stroke * 7919 + row * 104729 + stroke * row + image * 31) % 11 < 5;
  };
  const at = (i) => [Math.floor(i / (channels * height * width)), Math.floor(i / width) % height, i % width];
  return Float32Array.from({length: images * channels * height * width}, (_, i) => dark(...at(i)) ? -1 : 1);
}

/** The extents of an input; throws if one is neither fixed nor given. */
function shapeOf(input, given) {
  const shape = given?.shape ?? input.shape;
  const free = shape.filter((extent) => typeof extent !== 'number' || extent < 0);
  if (free.length > 0)
    throw new Error(`input '${input.name}' has free extents (${free.join(', ')}): its shape is not given`);
  return shape;
}

/** A tensor for an input: the value that is given, random values if it is a float or `below` is given, else zeros. */
function tensorFor(input, given, ort) {
  const shape = shapeOf(input, given);
  const length = elementCount(shape);
  const Data = arrayOf(input.type);
  if (given?.value !== undefined) {
    const value = Data === BigInt64Array || Data === BigUint64Array ? BigInt(given.value) : given.value;
    return new ort.Tensor(input.type, new Data(length).fill(value), shape);
  }
  if (given?.below !== undefined) {
    const drawn = randomValues(length, 0.5).map((value) => Math.floor((value + 0.5) * given.below));
    return new ort.Tensor(input.type, Data.from(drawn, Data === BigInt64Array ? BigInt : Number), shape);
  }
  if (!isFloat(input.type)) return new ort.Tensor(input.type, new Data(length), shape);
  if (given?.pattern === 'text') return new ort.Tensor(input.type, Data.from(textValues(shape)), shape);
  if (given?.pattern !== undefined) throw new Error(`input '${input.name}': unknown pattern '${given.pattern}'`);
  if (input.type === 'float16') throw new Error(`input '${input.name}' is float16: give a value`);
  return new ort.Tensor(input.type, Data.from(randomValues(length, given?.scale ?? 1)), shape);
}

async function timedRuns(session, feeds, runs) {
  const times = [];
  let outputs;
  for (let i = -kWarmRuns; i < runs; ++i) {
    const begin = process.hrtime.bigint();
    outputs = await session.run(feeds);
    if (i >= 0) times.push(Number(process.hrtime.bigint() - begin));
  }
  return {times, outputs};
}

/** The means of a profile that ONNX Runtime wrote, without the warm runs. */
function nodesOf(file) {
  const nodes = new Map();
  for (const {cat, name, dur, args} of JSON.parse(readFileSync(file, 'utf8'))) {
    if (cat !== 'Node' || !name.endsWith('_kernel_time')) continue;
    const node = nodes.get(name) ?? {name: name.slice(0, -'_kernel_time'.length), type: args.op_name, all: []};
    nodes.set(name, node);
    node.all.push(dur * 1000);
  }
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
  return [...nodes.values()].map(({name, type, all}) => ({name, type, ns: mean(all.slice(kWarmRuns))}));
}

async function expect(job) {
  const require = createRequire(`${job.packages}/package.json`);
  const ort = require('onnxruntime-node');
  ort.env.logLevel = 'fatal';
  const written = `${job.folder}/model.onnx`;
  const open = (file, options) => ort.InferenceSession.create(
      file, {intraOpNumThreads: job.threads, interOpNumThreads: 1, logSeverityLevel: 4, ...options});
  const plain = readFileSync(job.model);
  const {model, tensors} = job.layers ? withEveryTensor(plain) : {model: plain, tensors: []};
  const set = `${job.folder}/test_data_set_0`;
  mkdirSync(set, {recursive: true});
  if (job.level) await open(job.model, {graphOptimizationLevel: job.level, optimizedModelFilePath: written});
  else writeFileSync(written, model);
  const session = await open(job.level ? job.model : written, {
    graphOptimizationLevel: job.layers ? 'disabled' : 'all',
    ...(job.profile ? {enableProfiling: true, profileFilePrefix: `${job.folder}/profile`} : {})});
  const feeds = {};
  for (const input of session.inputMetadata) feeds[input.name] = tensorFor(input, job.inputs?.[input.name], ort);
  session.inputNames.forEach((name, k) => writeProto(`${set}/input_${k}.pb`, name, feeds[name]));
  const {times, outputs} = await timedRuns(session, feeds, job.runs);
  if (job.layers) tensors.forEach(({tensor}, k) => writeNpy(`${job.folder}/layer_${k}.npy`, outputs[tensor]));
  else session.outputNames.forEach((name, k) => writeProto(`${set}/output_${k}.pb`, name, outputs[name]));
  let nodes;
  if (job.profile) {
    session.endProfiling();
    nodes = nodesOf(`${job.folder}/${readdirSync(job.folder).filter((name) => name.startsWith('profile')).sort().pop()}`);
  }
  const {inputNames: inputs, outputNames} = session;
  return {version: require('onnxruntime-node/package.json').version, inputs, outputs: outputNames, times, tensors, nodes};
}

try {
  console.log(JSON.stringify(await expect(JSON.parse(process.argv[2]))));
} catch (error) {
  console.log(JSON.stringify({error: String(error.message ?? error).split('\n')[0]}));
}
