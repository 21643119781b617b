// Bytes of ONNX models (protobuf), of tensors (TensorProto) and of .npy files, as far as onnx_expect.mjs, trained.mjs and
// contrib.mjs need them. Field numbers are those of onnx.proto.
import {readFileSync, writeFileSync} from 'node:fs';

const kGraph = 7, kNode = 1, kOutput = 12, kNodeOutput = 2, kNodeType = 4;

// ONNX Runtime's name of a dtype: [number in TensorProto, name in .npy, array].
const kTypes = {
  float32: [1, '<f4', Float32Array],
  uint8: [2, '|u1', Uint8Array],
  int8: [3, '|i1', Int8Array],
  uint16: [4, '<u2', Uint16Array],
  int16: [5, '<i2', Int16Array],
  int32: [6, '<i4', Int32Array],
  int64: [7, '<i8', BigInt64Array],
  bool: [9, '|b1', Uint8Array],
  float16: [10, '<f2', Uint16Array],
  float64: [11, '<f8', Float64Array],
  uint32: [12, '<u4', Uint32Array],
  uint64: [13, '<u8', BigUint64Array],
  uint4: [21, null, Uint8Array],  // two to a byte, the first in the low bits
  int4: [22, null, Uint8Array],
  string: [8, null, Array],
};

/** The row of a dtype; throws if there is none. */
function typeRow(type) {
  if (!kTypes[type]) throw new Error(`dtype '${type}' is not one of ${Object.keys(kTypes).join(', ')}`);
  return kTypes[type];
}
export const arrayOf = (type) => typeRow(type)[2];
export const isFloat = (type) => type.startsWith('float');
export const elementCount = (shape) => shape.reduce((product, extent) => product * extent, 1);

function varint(value) {
  const bytes = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}
const numberField = (number, value) => Buffer.concat([varint(number << 3), varint(value)]);
const bytesField = (number, bytes) => Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);

/** The fields of a message: number, all bytes, and the content of a string or a message. Throws at malformed bytes. */
function* fieldsOf(message) {
  let at = 0;
  const readVarint = () => {
    for (let value = 0n, shift = 0n;; shift += 7n) {
      if (at >= message.length || shift > 63n) throw new Error('the model is no ONNX file');
      const byte = message[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return Number(value);
    }
  };
  while (at < message.length) {
    const begin = at;
    const tag = readVarint();
    let content;
    if ((tag & 7) === 0) {
      readVarint();
    } else {
      const size = (tag & 7) === 2 ? readVarint() : {1: 8, 5: 4}[tag & 7];
      if (!(at + size <= message.length)) throw new Error('the model is no ONNX file');
      content = message.subarray(at, at += size);
    }
    yield {number: tag >>> 3, bytes: message.subarray(begin, at), content};
  }
}

/** {tensor, op} for each output of a node of the graph, Constants left out. */
function tensorsOf(graph) {
  const tensors = [];
  for (const field of fieldsOf(graph)) {
    if (field.number !== kNode) continue;
    const parts = [...fieldsOf(field.content)];
    const op = parts.find((part) => part.number === kNodeType)?.content.toString() ?? '';
    const names = parts.filter((part) => part.number === kNodeOutput).map((part) => part.content.toString());
    if (op !== 'Constant') tensors.push(...names.filter(Boolean).map((tensor) => ({tensor, op})));
  }
  return tensors;
}

/** The model with every tensor of its graph as an output, in the order of the nodes: {model, tensors: [{tensor, op}]}. */
export function withEveryTensor(model) {
  let tensors = [];
  const parts = [...fieldsOf(model)].map((field) => {
    if (field.number !== kGraph) return field.bytes;
    tensors = tensorsOf(field.content);
    const kept = [...fieldsOf(field.content)].filter((part) => part.number !== kOutput).map((part) => part.bytes);
    const outputs = tensors.map(({tensor}) => bytesField(kOutput, bytesField(1, Buffer.from(tensor))));
    return bytesField(kGraph, Buffer.concat([...kept, ...outputs]));
  });
  return {model: Buffer.concat(parts), tensors};
}

const bytesOf = (data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

function tensorProto(name, {type, dims, data}) {
  const parts = dims.map((extent) => numberField(1, extent));
  parts.push(numberField(2, typeRow(type)[0]), bytesField(8, Buffer.from(name)));
  if (type === 'string')
    parts.push(...data.map((text) => bytesField(6, Buffer.from(text))));
  else
    parts.push(bytesField(9, bytesOf(data)));
  return Buffer.concat(parts);
}

/** Writes a tensor {type, dims, data} as a TensorProto. */
export function writeProto(path, name, tensor) { writeFileSync(path, tensorProto(name, tensor)); }

/** An AttributeProto. Values: an integer, {float}, {floats}, a string, {strings}, an array of integers, or {tensor: {type, dims, data}}. */
function attributeProto(name, value) {
  const float32 = (number, real) => {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(real);
    return Buffer.concat([varint((number << 3) | 5), bytes]);
  };
  const parts = (() => {
    if (typeof value === 'number') return [numberField(3, BigInt.asUintN(64, BigInt(value))), numberField(20, 2)];
    if (typeof value === 'string') return [bytesField(4, Buffer.from(value)), numberField(20, 3)];
    if (Array.isArray(value))
      return [...value.map((one) => numberField(8, BigInt.asUintN(64, BigInt(one)))), numberField(20, 7)];
    if (value.strings) return [...value.strings.map((one) => bytesField(9, Buffer.from(one))), numberField(20, 8)];
    if (value.tensor) return [bytesField(5, tensorProto('', value.tensor)), numberField(20, 4)];
    if (value.floats) return [...value.floats.map((one) => float32(7, one)), numberField(20, 6)];
    return [float32(2, value.float), numberField(20, 1)];
  })();
  return Buffer.concat([bytesField(1, Buffer.from(name)), ...parts]);
}

const text = (number, string) => bytesField(number, Buffer.from(string));

/** A NodeProto; `inputs` and `outputs` are names, '' where one is absent. */
function nodeProto({op, domain = '', attributes = {}, inputs, outputs}) {
  return Buffer.concat([
    ...inputs.map((name) => text(1, name)), ...outputs.map((name) => text(kNodeOutput, name)), text(kNodeType, op),
    ...Object.entries(attributes).map(([name, value]) => bytesField(5, attributeProto(name, value))), text(7, domain)]);
}

/** A ValueInfoProto: a tensor of `type`, or a sequence of maps from `maps` to f32. */
function valueInfo({name, type, dims, maps}) {
  const tensorType = (type, shape = []) => bytesField(1, Buffer.concat([numberField(1, typeRow(type)[0]), ...shape]));
  const mapType = () => bytesField(5, Buffer.concat([numberField(1, typeRow(maps)[0]), bytesField(2, tensorType('float32'))]));
  if (maps) return Buffer.concat([text(1, name), bytesField(2, bytesField(4, bytesField(1, mapType())))]);
  if (!type) return text(1, name);
  const shape = dims ? [bytesField(2, Buffer.concat(dims.map((extent) => bytesField(1, numberField(1, extent)))))] : [];
  return Buffer.concat([text(1, name), bytesField(2, tensorType(type, shape))]);
}

/**
 * A model of `nodes`, in order. `inputs` are {name, type, dims}; one with `data` becomes a constant. `outputs` are {name}, with a
 * type where ONNX Runtime cannot infer it, or {name, maps} for those of ZipMap. `domains` maps names to versions.
 */
export function modelOfNodes({nodes, inputs, outputs, domains}) {
  const graph = Buffer.concat([
    ...nodes.map((node) => bytesField(kNode, nodeProto(node))), text(2, nodes[0].op),
    ...inputs.filter(({data}) => data).map((input) => bytesField(5, tensorProto(input.name, input))),
    ...inputs.filter(({data}) => !data).map((input) => bytesField(11, valueInfo(input))),
    ...outputs.map((output) => bytesField(kOutput, valueInfo(output)))]);
  const sets = Object.entries(domains).map(
      ([name, version]) => bytesField(8, Buffer.concat([text(1, name), numberField(2, version)])));
  return Buffer.concat([numberField(1, 8), bytesField(kGraph, graph), ...sets]);
}

/**
 * A model of one node. `inputs` are those of modelOfNodes, null where an optional one is absent. `outputs` are names, '' where one
 * is absent, or {name, type}.
 */
export function modelOfOneNode({op, domain, attributes, inputs, outputs, opset = 17, version = 1}) {
  const made = outputs.map((output) => typeof output === 'string' ? {name: output} : output);
  const node = {op, domain, attributes, inputs: inputs.map((input) => input?.name ?? ''), outputs: made.map(({name}) => name)};
  return modelOfNodes({
    nodes: [node], inputs: inputs.filter(Boolean), outputs: made.filter(({name}) => name),
    domains: {'': opset, ...(domain && {[domain]: version})}});
}

/** Writes a tensor {type, dims, data} as .npy. */
export function writeNpy(path, {type, dims, data}) {
  const shape = dims.map((extent) => `${extent},`).join(' ');
  const text = `{'descr': '${typeRow(type)[1]}', 'fortran_order': False, 'shape': (${shape}), }`;
  const padded = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + '\n';
  const head = Buffer.from('\x93NUMPY\x01\x00..' + padded, 'latin1');
  head.writeUInt16LE(padded.length, 8);
  writeFileSync(path, Buffer.concat([head, bytesOf(data)]));
}

/** Reads a .npy file: {type, dims, data}; throws at a dtype without a row. */
export function readNpy(path) {
  const bytes = readFileSync(path);
  const end = (bytes[6] === 1 ? 10 + bytes.readUInt16LE(8) : 12 + bytes.readUInt32LE(8));
  const head = bytes.toString('latin1', 10, end);
  const descr = /'descr': '([^']+)'/.exec(head)?.[1];
  const type = Object.keys(kTypes).find((name) => kTypes[name][1] === descr);
  if (!type) throw new Error(`${path}: dtype ${descr} is unknown`);
  const dims = /'shape': \(([^)]*)\)/.exec(head)[1].split(',').filter((text) => text.trim()).map(Number);
  const copy = new Uint8Array(bytes.subarray(end));  // aligned
  return {type, dims, data: new (arrayOf(type))(copy.buffer)};
}

/** The value of an f16's bits. */
function halfValue(bits) {
  const exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const size = exponent === 31 ? (fraction ? NaN : Infinity) :
      exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits >> 15 ? -size : size;
}

/** The bits of the f16 nearest to a number, ties to even. */
export function halfBits(value) {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0, size = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  const exponent = Math.max(Math.floor(Math.log2(size)), -14), step = 2 ** (exponent - 10);
  const scaled = size / step, below = Math.floor(scaled), rest = scaled - below;
  const steps = below + (rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? 1 : 0);
  return sign | (steps < 1024 ? steps : ((exponent + 14) << 10) + steps);
}

/** The bytes of 4-bit integers. */
export function packedNibbles(numbers) {
  const bytes = new Uint8Array(Math.ceil(numbers.length / 2));
  numbers.forEach((number, i) => bytes[i >> 1] |= (number & 15) << (i % 2 * 4));
  return bytes;
}

/** The elements of a tensor as numbers; integers beyond 2^53 are rounded. */
export function numbersOf({type, data}) {
  return type === 'float16' ? Float64Array.from(data, halfValue) : Float64Array.from(data, Number);
}
