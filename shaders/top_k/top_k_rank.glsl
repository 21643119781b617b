// Ranks of TopK's candidates: integers whose order is that of the results, one word, or two for elements of 8 bytes. Equal
// ranks go by position. WORD is the variant axis of the element's size.
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
