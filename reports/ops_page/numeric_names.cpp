#include "reports/ops_page/numeric_names.h"

namespace opkit {

const char* nameOf(NumericClass numeric) {
  switch (numeric) {
    case NumericClass::Exact: return "Exact";
    case NumericClass::OneRounding: return "OneRounding";
    case NumericClass::FewRoundings: return "FewRoundings";
    case NumericClass::Products: return "Products";
    case NumericClass::Sum: return "Sum";
    case NumericClass::Softmax: return "Softmax";
    case NumericClass::Norm: return "Norm";
    case NumericClass::Transcendental: return "Transcendental";
    case NumericClass::Cast: return "Cast";
  }
  return "unknown";
}

}  // namespace opkit
