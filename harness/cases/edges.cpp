#include "harness/cases/edges.h"

#include <algorithm>

#include "harness/cases/accept.h"
#include "harness/cases/edge_values.h"

namespace opkit::harness {
namespace {

constexpr size_t kMostParams = 3;  // per dtype, if an operator has fewer dtypes than parameters

/// Different parameters of the examples, in their order.
std::vector<std::string> paramsIn(const std::vector<const Case*>& examples) {
  std::vector<std::string> all;
  for (const Case* c : examples)
    if (std::ranges::find(all, c->params) == all.end()) all.push_back(c->params);
  return all;
}

/// Of any input: the condition of Where has one dtype only.
std::vector<DType> dtypesOf(const OpDef& def) {
  std::vector<DType> dtypes;
  for (int i = 1; i < 32; ++i) {
    const auto takes = [&](const Port& port) { return port.dtypes.contains(static_cast<DType>(i)); };
    if (isValidDType(i) && std::ranges::any_of(def.inputs, takes)) dtypes.push_back(static_cast<DType>(i));
  }
  return dtypes;
}

/// The required inputs in one dtype, or the first that the port takes; all of one shape.
Case caseOf(const OpDef& def, const std::string& params, DType dtype) {
  Case c;
  c.op = def.type;
  c.params = params;
  c.lane = Lane::Edges;
  for (const Port& port : def.inputs) {
    if (port.kind == Port::Kind::Optional) break;
    DType own = dtype;
    for (int i = 1; !port.dtypes.contains(own); ++i)
      if (isValidDType(i)) own = static_cast<DType>(i);
    c.inputs.push_back(TensorDesc{own, {1}});
  }
  const auto elements = static_cast<int64_t>(edgeElements(c, def));
  for (auto& input : c.inputs) input->shape = {elements};
  markDrawn(c, "drawn for edges");
  return c;
}

}  // namespace

bool isElementwise(const OpDef& def) {
  return def.numeric == NumericClass::Cast || (!def.inPlace.empty() && def.numeric != NumericClass::Norm);
}

std::vector<Case> edgeCases(const OpDef& def, const std::vector<const Case*>& examples, const OpRegistry& registry) {
  std::vector<Case> cases;
  const std::vector<std::string> params = paramsIn(examples);
  if (!isElementwise(def) || params.empty()) return cases;
  const std::vector<DType> dtypes = dtypesOf(def);
  const size_t each = std::min((params.size() + dtypes.size() - 1) / dtypes.size(), kMostParams);
  size_t next = 0;
  for (const DType dtype : dtypes) {
    size_t found = 0;
    for (size_t k = 0; k < params.size() && found < each; ++k) {
      Case c = caseOf(def, params[next++ % params.size()], dtype);
      if (!acceptDrawn(def, registry, c, {}).isOk()) continue;  // a clamp of integers
      cases.push_back(std::move(c));
      ++found;
    }
  }
  return cases;
}

}  // namespace opkit::harness
