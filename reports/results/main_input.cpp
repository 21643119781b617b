#include "reports/results/main_input.h"

namespace opkit {

size_t mainInput(const OpDef& def) {
  for (size_t i = 0; i < def.inputs.size(); ++i)
    if (def.inputs[i].dtypes != kBool) return i;
  return 0;
}

}  // namespace opkit
