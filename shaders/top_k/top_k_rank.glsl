// Ranks of TopK's candidates: integers whose order is that of the results, one word, or two for elements of 8 bytes. Equal
// ranks go by position. WORD is the variant axis of the element's size. rankOf needs the constant `kind` of the shader, declared
// before; RANKS_ALONE leaves it out.
#ifdef WORD_U32X2
#define RANK uvec2  // low word, high word
bool isBefore(RANK a, RANK b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
const RANK kNoRank = RANK(0xFFFFFFFFu);
#else
#define RANK uint
bool isBefore(RANK a, RANK b) { return a < b; }
const RANK kNoRank = 0xFFFFFFFFu;
#endif

/// Whether the second of two candidates comes first in the result.
bool isWrong(RANK rank, uint place, RANK next, uint nextPlace) {
  return isBefore(next, rank) || (next == rank && nextPlace < place);
}

#ifndef RANKS_ALONE
const uint kUnsigned = 0, kSigned = 1, kFloat = 2, kHalf = 3;  // Kind of row_sort_vulkan.h
const uint kSign = 0x80000000u, kNone = 0xFFFFFFFFu;

/// Bits of floats as integers of the same order; both zeros are equal, NaN is the largest. `rest` are the words below.
uint rankOfFloat(uint bits, uint infinity, inout uint rest) {
  const uint magnitude = bits & ~kSign;
  if (magnitude > infinity || (magnitude == infinity && rest != 0u)) {
    rest = kNone;
    return kNone;
  }
  if (magnitude == 0u && rest == 0u) return kSign;
  if ((bits & kSign) == 0u) return bits | kSign;
  rest = ~rest;
  return ~bits;
}

/// The smallest elements have the smallest ranks.
RANK rankOf(WORD_ARITH word) {
#ifdef WORD_U32X2
  if (kind == kSigned) word.y ^= kSign;
  if (kind == kFloat) word.y = rankOfFloat(word.y, 0x7FF00000u, word.x);
  return word;
#else
  uint bits = word, rest = 0u;
#ifdef WORD_U8
  bits <<= 24;
#elif defined(WORD_U16)
  bits <<= 16;
#endif
  if (kind == kSigned) bits ^= kSign;
  if (kind == kFloat) bits = rankOfFloat(bits, 0x7F800000u, rest);
  if (kind == kHalf) bits = rankOfFloat(bits, 0x7C000000u, rest);
  return bits;
#endif
}
#endif
