// Hidden elements of Trilu: those of the other triangle.
#include "engine/op/oracle_elements.h"
#include "ops/trilu/trilu_parts.h"

namespace opkit::ops::trilu {

HiddenElements hidden(const OracleArgs& args) {
  HiddenElements result(args.inputs.size());
  const OracleTensor& x = args.input(0);
  result[0].resize(static_cast<size_t>(x.elements()));
  const bool upper = args.params<TriluParams>().upper;
  // Diagonals this far outside are all alike.
  const int64_t k = args.hasInput(1) ? std::clamp<int64_t>(args.input(1).integer[0], -kMaxElements, kMaxElements) : 0;
  forEachCoordinates(x.shape(), [&](size_t i, const Coordinates& at) {
    const int64_t above = at.back() - at[at.size() - 2];
    result[0][i] = upper ? above < k : above > k;
  });
  return result;
}

}  // namespace opkit::ops::trilu
