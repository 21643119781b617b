// One pass of a Fourier transform: transforms of `points` numbers in shared memory, by Stockham's passes of radix 2 to 13.
//
// A row of numbers is seen as [points][rest][before]: a line is the `points` numbers of one place (p, q) of the last two
// axes. A work group takes `columns` neighbouring lines. Results lie as [rest][points][before], times exp(-2 pi i p k /
// (points * rest)), so that the next pass finds `before` * points in place of `before`. A row of one pass is one line.
//
// `source` says what the numbers are made of, `reach` what becomes of the results; between them a length that is not
// smooth is convolved with a chirp, in two transforms. `numbers` holds all tables. Driven by ops/dft/dft_vulkan.cpp.
//! variant STORAGE: f32 f16 f64
#version 450
#include "common.glsl"
#include "storage.glsl"

// A complex number, and one as it is stored.
#if defined(STORAGE_F64)
#define COMPLEX dvec2
#define PAIR dvec2
#define PAIR_OF(value) (value)
#elif defined(STORAGE_F16)
#define COMPLEX vec2
#define PAIR f16vec2
#define PAIR_OF(value) f16vec2(vec2(roundToHalf((value).x), roundToHalf((value).y)))
#else
#define COMPLEX vec2
#define PAIR vec2
#define PAIR_OF(value) (value)
#endif

layout(local_size_x = 64, local_size_x_id = 0) in;
layout(constant_id = 1) const uint tileNumbers = 1024;  // of each half of the tile
layout(constant_id = 2) const uint source = 0;
layout(constant_id = 3) const uint reach = 0;
// Neighbouring lines are neighbours in memory, where the pass reads or writes.
layout(constant_id = 4) const bool readsAcross = false;
layout(constant_id = 5) const bool writesAcross = false;
layout(constant_id = 6) const uint steps = 0;  // kSwapsIn ... kHasWindow

const uint kFromScratch = 0u, kComplex = 1u, kReal = 2u, kRealPairs = 3u, kMirrored = 4u, kHalfSpectrum = 5u;
const uint kToScratch = 0u, kToComplex = 1u, kToReal = 2u, kToRealPairs = 3u, kToHalfSpectrum = 4u;
const bool swapsIn = (steps & 1u) != 0u;         // exchange real and imaginary parts: an inverse transform
const bool multipliesIn = (steps & 2u) != 0u;    // by the chirp
const bool swapsResults = (steps & 4u) != 0u;    // of the inverse transform inside a convolution
const bool multipliesOut = (steps & 8u) != 0u;   // by the chirp or its spectrum
const bool swapsOut = (steps & 16u) != 0u;
const bool hasWindow = (steps & 32u) != 0u;

// Tensors have two views, of elements and of pairs: complex numbers, and neighbours of a real row.
#define TWO_VIEWS(number, access, Block, name)                      \
  layout(binding = number) access buffer Block { STORAGE name[]; }; \
  layout(binding = number) access buffer Block##2 { PAIR name##2[]; };
TWO_VIEWS(0, readonly, X, x)
TWO_VIEWS(1, readonly, Window, window)
layout(binding = 2) readonly buffer Numbers { COMPLEX numbers[]; };  // exp(-2 pi i k / points) first
layout(binding = 3) readonly buffer From { COMPLEX from[]; };
layout(binding = 4) writeonly buffer To { COMPLEX to[]; };
TWO_VIEWS(5, writeonly, Y, y)

layout(push_constant) uniform Push {
  uint lines;
  uint points;
  uint radices;  // four bits each, the first pass lowest
  uint columns;  // lines of a work group
  uint before;
  uint rest;
  uint whole;      // points of the transform
  uint rowPoints;  // numbers of a row that count: the others are zeros
  uint given;      // elements of a row of x
  uint results;    // elements of a row of y
  uint innerRows;
  uint xOuter;
  uint xInner;
  uint xStep;
  uint yOuter;
  uint yInner;
  uint yStep;
  uint lowAt;       // exp(-2 pi i k / (points * rest)) for k below kLow
  uint highAt;      // and for multiples of kLow
  uint halfRootsAt;
  uint factorsInAt;
  uint factorsOutAt;
} push;

const uint kLow = 1024u;  // of dft_vulkan.cpp
shared COMPLEX tile[2u * tileNumbers];

COMPLEX times(COMPLEX a, COMPLEX b) { return COMPLEX(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
COMPLEX conjugate(COMPLEX a) { return COMPLEX(a.x, -a.y); }
COMPLEX turned(COMPLEX a) { return COMPLEX(a.y, -a.x); }  // -i a

/// Where number i of a line lies in the tile; a pad of one keeps neighbours in different banks.
uint slotOf(uint i, uint column) {
  return readsAcross ? i * (push.columns | 1u) + column : column * push.points + i;
}

uint xRow(uint row) { return row / push.innerRows * push.xOuter + row % push.innerRows * push.xInner; }
uint yRow(uint row) { return row / push.innerRows * push.yOuter + row % push.innerRows * push.yInner; }

/// Element i of a real row.
ARITH realAt(uint first, uint i) {
  if (i >= push.given) return ARITH(0.0);
  const ARITH value = LOAD(x, first + i * push.xStep);
  return hasWindow ? value * LOAD(window, i) : value;
}
/// Elements 2i and 2i + 1 of a real row, in one load where they are a pair in memory.
COMPLEX realPairAt(uint first, uint i) {
  if ((first & 1u) != 0u || push.xStep != 1u || 2u * i + 1u >= push.given)
    return COMPLEX(realAt(first, 2u * i), realAt(first, 2u * i + 1u));
  const COMPLEX value = COMPLEX(x2[first / 2u + i]);
  return hasWindow ? value * COMPLEX(window2[i]) : value;
}
/// Element i of a complex row.
COMPLEX complexAt(uint first, uint i) {
  if (i >= push.given) return COMPLEX(0.0);
  const COMPLEX value = COMPLEX(x2[(first + i * push.xStep) / 2u]);
  return hasWindow ? value * LOAD(window, i) : value;
}
COMPLEX spectrumAt(uint first, uint k) {
  const bool isReal = k == 0u || 2u * k == push.whole;
  const COMPLEX value = complexAt(first, k);
  return COMPLEX(value.x, isReal ? ARITH(0.0) : value.y);
}

/// X[k] + conj X[half - k] + i conj(root[k]) (X[k] - conj X[half - k]): the numbers whose transform is y[2j] + i y[2j + 1].
COMPLEX packed(uint first, uint k) {
  const COMPLEX near = spectrumAt(first, k), far = conjugate(spectrumAt(first, push.whole / 2u - k));
  const COMPLEX odd = times(conjugate(numbers[push.halfRootsAt + k]), near - far);
  return near + far - turned(odd);
}

COMPLEX sourceAt(uint row, uint i) {
  if (i >= push.rowPoints) return COMPLEX(0.0);
  const uint first = xRow(row);
  if (source == kComplex) return complexAt(first, i);
  if (source == kReal) return COMPLEX(realAt(first, i), 0.0);
  if (source == kRealPairs) return realPairAt(first, i);
  if (source == kHalfSpectrum) return packed(first, i);
  return i <= push.whole / 2u ? spectrumAt(first, i) : conjugate(spectrumAt(first, push.whole - i));
}

uint linesOfRow() { return push.before * push.rest; }

COMPLEX load(uint line, uint j) {
  const uint row = line / linesOfRow(), i = line % linesOfRow() + linesOfRow() * j;
  COMPLEX value = source == kFromScratch ? from[row * (linesOfRow() * push.points) + i] : sourceAt(row, i);
  if (swapsIn) value = value.yx;
  if (multipliesIn && i < push.rowPoints) value = times(value, numbers[push.factorsInAt + i]);
  return value;
}

void butterfly2(inout COMPLEX v[2]) {
  const COMPLEX a = v[0], b = v[1];
  v[0] = a + b;
  v[1] = a - b;
}
void butterfly4(inout COMPLEX v[4]) {
  const COMPLEX a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = turned(v[1] - v[3]);
  v[0] = a + c;
  v[1] = b + d;
  v[2] = a - c;
  v[3] = b - d;
}
// Sums with the cosines and sines of the first half; root k is at k * points / R.
#define ODD_BUTTERFLY(R)                                                                          \
  void butterfly##R(inout COMPLEX v[R]) {                                                         \
    const uint kHalf = (R - 1u) / 2u, apart = push.points / R;                                    \
    COMPLEX roots[R], sums[kHalf], differences[kHalf], total = v[0];                              \
    [[unroll]] for (uint j = 0u; j < R; ++j) roots[j] = numbers[j * apart];                       \
    [[unroll]] for (uint j = 0u; j < kHalf; ++j) {                                                \
      sums[j] = v[j + 1u] + v[R - 1u - j];                                                        \
      differences[j] = turned(v[j + 1u] - v[R - 1u - j]);                                         \
      total += sums[j];                                                                           \
    }                                                                                             \
    [[unroll]] for (uint k = 1u; k <= kHalf; ++k) {                                               \
      COMPLEX even = v[0], odd = COMPLEX(0.0);                                                    \
      [[unroll]] for (uint j = 0u; j < kHalf; ++j) {                                              \
        even += sums[j] * roots[(j + 1u) * k % R].x;                                              \
        odd -= differences[j] * roots[(j + 1u) * k % R].y;                                        \
      }                                                                                           \
      v[k] = even + odd;                                                                          \
      v[R - k] = even - odd;                                                                      \
    }                                                                                             \
    v[0] = total;                                                                                 \
  }
ODD_BUTTERFLY(3u)
ODD_BUTTERFLY(5u)

// One pass from one half of the tile to the other. Of all transforms, butterfly t reads numbers t + j * distance.
#define PASS(R, BUTTERFLY)                                                                        \
  void pass##R(uint fromHalf, uint toHalf, uint done) {                                           \
    const uint distance = push.points / R, left = distance / done, count = distance * push.columns; \
    for (uint i = gl_LocalInvocationIndex; i < count; i += gl_WorkGroupSize.x) {                  \
      const uint t = readsAcross ? i / push.columns : i % distance;                               \
      const uint column = readsAcross ? i % push.columns : i / distance, p = t / done;            \
      COMPLEX v[R];                                                                               \
      [[unroll]] for (uint j = 0u; j < R; ++j) v[j] = tile[fromHalf + slotOf(t + j * distance, column)]; \
      BUTTERFLY(v);                                                                               \
      if (left > 1u)                                                                              \
        [[unroll]] for (uint k = 1u; k < R; ++k) v[k] = times(v[k], numbers[p * k * done]);       \
      const uint first = t + (R - 1u) * done * p;                                                 \
      [[unroll]] for (uint k = 0u; k < R; ++k) tile[toHalf + slotOf(first + k * done, column)] = v[k]; \
    }                                                                                             \
  }
PASS(2u, butterfly2)
PASS(3u, butterfly3u)
PASS(4u, butterfly4)
PASS(5u, butterfly5u)

// The same for any radix: an invocation sums one result. Few lengths need it, and it keeps the shader small.
void passOfSums(uint radix, uint fromHalf, uint toHalf, uint done) {
  const uint distance = push.points / radix, count = push.points * push.columns;
  for (uint i = gl_LocalInvocationIndex; i < count; i += gl_WorkGroupSize.x) {
    const uint result = readsAcross ? i / push.columns : i % push.points;
    const uint column = readsAcross ? i % push.columns : i / push.points;
    const uint t = result / (radix * done) * done + result % done, k = result / done % radix, p = t / done;
    COMPLEX sum = tile[fromHalf + slotOf(t, column)];
    for (uint j = 1u; j < radix; ++j)
      sum += times(tile[fromHalf + slotOf(t + j * distance, column)], numbers[j * k % radix * distance]);
    tile[toHalf + slotOf(result, column)] = times(sum, numbers[p * k * done]);
  }
}

/// All passes; returns where the results begin.
uint transform() {
  uint here = 0u, there = tileNumbers, done = 1u;
  for (uint radices = push.radices; radices != 0u; radices >>= 4u) {
    const uint radix = radices & 15u;
    barrier();
    if (radix == 4u)
      pass4u(here, there, done);
    else if (radix == 2u)
      pass2u(here, there, done);
    else if (radix == 3u)
      pass3u(here, there, done);
    else if (radix == 5u)
      pass5u(here, there, done);
    else
      passOfSums(radix, here, there, done);
    done *= radix;
    const uint before = here;
    here = there;
    there = before;
  }
  barrier();
  return here;
}

/// Result k of a line in the tile.
COMPLEX resultAt(uint half_, uint k, uint column, uint place) {
  COMPLEX value = tile[half_ + slotOf(k, column)];
  if (swapsResults) value = value.yx;
  if (multipliesOut) value = times(value, numbers[push.factorsOutAt + place]);
  return swapsOut ? value.yx : value;
}

/// At an even element.
void storeNumber(uint at, COMPLEX value) { y2[at / 2u] = PAIR_OF(value); }

/// Numbers k of the spectrum of a real row from that of its pairs, and those that mirror them.
void storeHalfSpectrum(uint half_, uint k, uint column, uint first) {
  const uint count = push.whole / 2u, near = k == count ? 0u : k, far = k == 0u ? 0u : count - k;
  const COMPLEX a = resultAt(half_, near, column, near), b = conjugate(resultAt(half_, far, column, far));
  const COMPLEX odd = times(turned(a - b), numbers[push.halfRootsAt + k]);
  const COMPLEX value = COMPLEX((a + b) * ARITH(0.5)) + odd * ARITH(0.5);
  storeNumber(first + k * push.yStep, value);
  if (push.results == push.whole && k > 0u && k < count)
    storeNumber(first + (push.whole - k) * push.yStep, conjugate(value));
}

void store(uint half_, uint line, uint k, uint column) {
  const uint row = line / linesOfRow(), place = line % linesOfRow(), p = place / push.before;
  const uint at = place + push.before * ((push.points - 1u) * p + k);  // q + before * (points * p + k)
  if (reach == kToHalfSpectrum) {
    storeHalfSpectrum(half_, k, column, yRow(row));
    return;
  }
  COMPLEX value = resultAt(half_, k, column, at);
  if (reach == kToScratch) {
    if (push.rest > 1u) {
      const uint turn = p * k;
      value = times(value, times(numbers[push.lowAt + turn % kLow], numbers[push.highAt + turn / kLow]));
    }
    to[row * (linesOfRow() * push.points) + at] = value;
    return;
  }
  const uint first = yRow(row);
  if (swapsOut) value *= ARITH(1.0) / ARITH(push.whole);  // an inverse transform
  if (reach == kToRealPairs) {
    if (2u * at >= push.results) return;
    if ((first & 1u) == 0u && push.yStep == 1u) {
      storeNumber(first + 2u * at, value);
      return;
    }
    STORE(y, first + 2u * at * push.yStep, value.x);
    STORE(y, first + (2u * at + 1u) * push.yStep, value.y);
  } else if (at < push.results) {
    if (reach == kToReal)
      STORE(y, first + at * push.yStep, value.x);
    else
      storeNumber(first + at * push.yStep, value);
  }
}

void main() {
  const uint firstLine = linearGroup() * push.columns;
  for (uint i = gl_LocalInvocationIndex; i < push.points * push.columns; i += gl_WorkGroupSize.x) {
    const uint j = readsAcross ? i / push.columns : i % push.points;
    const uint column = readsAcross ? i % push.columns : i / push.points, line = firstLine + column;
    tile[slotOf(j, column)] = line < push.lines ? load(line, j) : COMPLEX(0.0);
  }
  const uint half_ = transform();
  const uint count = reach == kToHalfSpectrum ? push.whole / 2u + 1u : push.points;
  for (uint i = gl_LocalInvocationIndex; i < count * push.columns; i += gl_WorkGroupSize.x) {
    const uint k = writesAcross ? i / push.columns : i % count, column = writesAcross ? i % push.columns : i / count;
    if (firstLine + column < push.lines) store(half_, firstLine + column, k, column);
  }
}
