// Draws of shapes and inputs for the cases of hunt.mjs. An input is {type, dims} with the fill `scale` (values in [-scale, scale)),
// `between` ([low, high), reals), `range` ([low, high], integers) or `values`, and `constant` if it belongs to the model.
import {constant, i64} from './contrib_inputs.mjs';
import {arrayOf, elementCount, halfBits, packedNibbles} from './onnx_bytes.mjs';

export const kChannels = [1, 3, 4, 7, 17, 96, 1152], kMaps = [1, 2, 7, 14, 33], kBatches = [1, 7];

/** Numbers in [0, 1), the same for every run with this seed. */
export function randomNumbers(seed) {
  let state = seed % 2147483646 + 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** A number for a text. */
export function hashOf(text) {
  let hash = 2166136261;
  for (const symbol of text) hash = Math.imul(hash ^ symbol.charCodeAt(0), 16777619) >>> 0;
  return hash;
}

/** Draws of one case. Shapes have from `least` to `most` elements, or nearly. */
export class Draws {
  constructor(seed) {
    this.next = randomNumbers(seed);
    for (let i = 0; i < 8; ++i) this.next();  // seeds that are near each other part
  }

  int(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }
  of(list) {
    return list[this.int(0, list.length - 1)];
  }
  chance(share) {
    return this.next() < share;
  }
  log(low, high) {
    return Math.round(low * (high / low) ** this.next());
  }

  /** What `make` gives when its `size` lies in [least, most]; after 300 tries the nearest. */
  within(make, size, least, most) {
    let best, distance = Infinity;
    for (let i = 0; i < 300 && distance > 0; ++i) {
      const one = make(), amount = size(one);
      const off = amount < least ? least / amount - 1 : amount > most ? amount / most - 1 : 0;
      if (off < distance) [best, distance] = [one, off];
    }
    return best;
  }

  /** [batch, channels, extents...] */
  maps(least = 1 << 15, most = 1 << 20, rank = 2) {
    const extent = () => this.chance(0.8) ? this.of(kMaps) : this.int(3, 112);
    return this.within(() => {
      const first = extent();
      const extents = Array.from({length: rank}, () => this.chance(0.8) ? first : extent());
      return [this.of(kBatches), this.of(kChannels), ...extents];
    }, elementCount, least, most);
  }

  /** Rank 1 to 4: maps, long and flat ones, inner runs of 1 to 17. */
  shape(least = 1 << 15, most = 1 << 20, rank = this.int(1, 4)) {
    const total = this.log(least, most), short = this.int(1, 17), few = this.int(1, 17);
    const rest = (part) => Math.max(1, Math.round(total / part));
    if (rank === 4) return this.maps(least, most);
    if (rank === 3) return this.of([[few, rest(few * short), short], [few, short, rest(few * short)], [rest(few * short), few, short]]);
    if (rank === 2) return this.of([[rest(short), short], [short, rest(short)], [this.of([96, 1152]), rest(400)]]);
    return [total];
  }
}

const kFills = {
  float32: Number,
  float64: Number,
  float16: halfBits,
  int64: BigInt,
  uint64: BigInt,
};

/** The elements of an input as a typed array. */
export function elementsOf({type, dims, values, range, between, scale = 1}, next) {
  const length = elementCount(dims), convert = kFills[type] ?? Number;
  if (values && values.length !== length) throw new Error(`${values.length} values for ${length} elements`);
  const [low, high] = between ?? [-scale, scale];
  const draw = values ? (i) => values[i] :
      range           ? () => range[0] + Math.floor(next() * (range[1] - range[0] + 1)) :
                        () => low + (high - low) * next();
  if (type.endsWith('int4')) return packedNibbles(Array.from({length}, (_, i) => draw(i)));
  const data = new (arrayOf(type))(length);
  for (let i = 0; i < length; ++i) data[i] = convert(draw(i));
  return data;
}

/** An entry of the tables of cases: its operator is the first word of its name. */
export const entry = (name, draw) => ({name, draw});
export const opOf = ({name}) => name.split(' ')[0];

// Inputs, in addition to those of contrib_inputs.mjs.
export const list = (values) => constant(i64([values.length], values));
export const whole = (type, low, high) => (dims) => ({type, dims, range: [low, high]});
export const above = (dims, low = 0.01, high = 4) => ({type: 'float32', dims, between: [low, high]});
export const wide = whole('int64', -1000, 1000);

export const axes = (dims) => dims.map((_, i) => i);
export const repeated = (rank, value) => Array.from({length: rank}, () => value);
export const shuffled = (r, items) => {
  const rest = [...items];
  return items.map(() => rest.splice(r.int(0, rest.length - 1), 1)[0]);
};

/** The last, first, middle, alternate or all axes, or all but one at an end. */
export function someAxes(r, dims) {
  const rank = dims.length;
  const kinds =
      [[rank - 1], [0], [rank >> 1], axes(dims), axes(dims).filter((i) => i % 2 === 0), axes(dims).slice(1), axes(dims).slice(0, -1)];
  return r.of(kinds.filter((kind) => kind.length > 0));
}

const few = (list) => list.length > 8 ? `${list.slice(0, 3).join(',')},...` : list.join(',');
/** "7x96x14x14 96x1x3x3 {2,0,1}; group=96": dims of the inputs, values of small constants, attributes. */
export function textOf({inputs, attributes = {}}) {
  const shapes = inputs.map((input) => {
    if (!input) return '-';
    if (input.values && input.constant) return `{${few(input.values.map((one) => +Number(one).toPrecision(3)))}}`;
    return input.dims.length === 0 ? 'scalar' : input.dims.join('x');
  });
  const settings = Object.entries(attributes).map(([name, value]) => {
    if (Array.isArray(value)) return `${name}=${few(value)}`;
    return `${name}=${typeof value === 'object' ? Object.values(value).flat().join(',') : value}`;
  });
  return [shapes.join(' '), settings.join(' ')].filter(Boolean).join('; ');
}
