#include "harness/cases/stored_shapes.h"

#include "harness/cases/data.h"
#include "harness/compare/expected.h"

namespace opkit::harness {

Status checkShapeCount(const Case& c, const OpDef& def) {
  const size_t given = c.shapes.size(), count = c.outputs ? c.outputs : requiredOutputs(def);
  if (given == 0 || given == count) return Status::ok();
  return Status::invalidArgument(R"("shapes" describes {} output{}, the case has {})", given, given == 1 ? "" : "s",
                                 count);
}

Status compareShapes(const Case& c, std::span<const TensorDesc> outputs) {
  if (c.shapes.empty()) return Status::ok();
  if (outputs.size() != c.shapes.size())
    return Status::internal("{} outputs by the shape rule, {} by {}", outputs.size(), c.shapes.size(), c.source);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] != c.shapes[i])
      return Status::internal("output {} is {} by the shape rule, {} by {}", i, outputs[i].toString(),
                              c.shapes[i].toString(), c.source);
  return Status::ok();
}

Status checkShapes(const Case& c, const OpDef& def) {
  OPKIT_ASSIGN(const ParamBytes params, paramsFromJson(def.params, c.params));
  OPKIT_ASSIGN(const auto inputs, makeInputs(c, def));
  OPKIT_ASSIGN(const auto outputs, outputDescs(def, params, inputs, c.outputs));
  return compareShapes(c, outputs);
}

}  // namespace opkit::harness
