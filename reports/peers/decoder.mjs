// Generates tokens with a decoder of the zoo on ONNX Runtime: the token with the largest logit follows.
//   node decoder.mjs MODEL.onnx COUNT TOKEN...
// Prints the same two lines as docs/examples/generate: the tokens, then the least difference between the largest and the
// second logit, and the time. Keys and values of earlier tokens are inputs and outputs, as decoder.cpp of the zoo says.
import ort from 'onnxruntime-node';

const [model, count, ...prompt] = process.argv.slice(2);
const session = await ort.InferenceSession.create(model, {intraOpNumThreads: 2, graphOptimizationLevel: 'all'});
const pasts = session.inputMetadata.filter(({name}) => name.startsWith('past_'));
const cache = Object.fromEntries(pasts.map(({name, shape}) => {
  const [, heads, , size] = shape;
  return [name, new ort.Tensor('float32', new Float32Array(0), [1, heads, 0, size])];
}));

/** Runs tokens behind `cached` others; returns the logits of the last. */
async function run(tokens, cached) {
  const integers = (values) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  const outputs = await session.run(
      {input_ids: integers(tokens), position_ids: integers(tokens.map((_, i) => cached + i)), ...cache});
  for (const name of Object.keys(cache)) cache[name] = outputs[name.replace('past_', 'present_')];
  return outputs.logits.data.subarray(-outputs.logits.dims[2]);
}

const generated = [];
let tokens = prompt.map(Number), cached = 0, least = Infinity, top = 0;
const begin = performance.now();
while (generated.length < Number(count)) {
  const logits = await run(tokens, cached);
  cached += tokens.length;
  const best = logits.indexOf(logits.reduce((a, b) => Math.max(a, b)));
  const second = logits.reduce((a, b, i) => i === best ? a : Math.max(a, b), -Infinity);
  least = Math.min(least, logits[best] - second);
  top = Math.max(top, logits[best]);
  tokens = [best];
  generated.push(best);
}
const elapsed = (performance.now() - begin) / generated.length;
console.log(generated.join(' '));
console.log(`least margin ${least.toPrecision(3)} of logits up to ${top.toPrecision(3)}; ${elapsed.toPrecision(3)} ms a token`);
