#include "ops/non_zero/non_zero_parts.h"

namespace opkit::ops::non_zero {

Status reference(const OracleArgs& args) {
  Shape place(args.input(0).shape().size(), 0);  // of the present element
  std::vector<int64_t>& indices = args.output(0).integer;
  const auto columns = static_cast<size_t>(args.input(0).elements());
  size_t found = 0;
  const auto visit = [&](const auto& x) {
    for (const auto& value : x) {
      if (value != 0) {
        for (size_t d = 0; d < place.size(); ++d) indices[found + d * columns] = place[d];
        ++found;
      }
      for (size_t d = place.size(); d-- > 0;) {
        if (++place[d] < args.input(0).shape()[d]) break;
        place[d] = 0;
      }
    }
  };
  if (args.input(0).isReal())
    visit(args.input(0).real);
  else
    visit(args.input(0).integer);
  if (args.outputs.size() > 1) args.output(1).integer[0] = static_cast<int64_t>(found);
  return Status::ok();
}

}  // namespace opkit::ops::non_zero
