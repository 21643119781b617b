#include "harness/cases/case_dtype.h"

#include "reports/results/main_input.h"

namespace opkit::harness {

std::string dtypeOf(const Case& c, const OpDef* def) {
  for (size_t i = def ? mainInput(*def) : 0; i < c.inputs.size(); ++i)
    if (c.inputs[i]) return nameOf(c.inputs[i]->dtype);
  return "";
}

}  // namespace opkit::harness
