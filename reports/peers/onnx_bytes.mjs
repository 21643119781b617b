// Bytes of ONNX models (protobuf), of tensors (TensorProto) and of .npy files, as far as onnx_expect.mjs and trained.mjs
// need them. Field numbers are those of onnx.proto.
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

/** Writes a tensor {type, dims, data} as a TensorProto. */
export function writeProto(path, name, {type, dims, data}) {
  const parts = dims.map((extent) => numberField(1, extent));
  parts.push(numberField(2, typeRow(type)[0]), bytesField(8, Buffer.from(name)), bytesField(9, bytesOf(data)));
  writeFileSync(path, Buffer.concat(parts));
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

/** The elements of a tensor as numbers; integers beyond 2^53 are rounded. */
export function numbersOf({type, data}) {
  return type === 'float16' ? Float64Array.from(data, halfValue) : Float64Array.from(data, Number);
}
