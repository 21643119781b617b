#include <algorithm>
#include <set>
#include <sstream>

#include "engine/import/onnx/onnx_fields.h"
#include "ops/einsum/einsum_parts.h"

namespace opkit::ops::einsum {
namespace {

const OnnxFields<EinsumParamsT>& fields() {
  static const OnnxFields<EinsumParamsT> fields{field(required("equation"), &EinsumParamsT::equation)};
  return fields;
}

/// In ONNX every ellipsis stands for the same number of axes; here each operand has its own.
Status write(const EinsumParamsT& params, const OpNode& node, OnnxForm& form) {
  std::istringstream terms(params.equation.substr(0, params.equation.find("->")));
  std::set<int64_t> counts;
  std::string term;
  for (size_t i = 0; i < node.inputs.size() && std::getline(terms, term, ','); ++i)
    if (term.find("...") != std::string::npos)
      counts.insert(std::ssize(node.inputs[i]->shape) -
                    std::ranges::count_if(term, [](unsigned char letter) { return std::isalpha(letter) != 0; }));
  if (counts.size() > 1) return Status::unsupported("the ellipses of Einsum must stand for as many axes each");
  return writeFields(params, fields(), form);
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Einsum", attributesOf(fields()),
            {nodeOf("Einsum", fields()).rule.read, inverseOf<EinsumParamsT>({"Einsum"}, write)}, 12);
}

}  // namespace opkit::ops::einsum
