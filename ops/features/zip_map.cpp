#include "ops/features/zip_map.h"

#include <algorithm>

#include "engine/tensor/objects.h"
#include "ops/features/rules.h"
#include "ops/features/scores.h"

namespace opkit::ops::features {
namespace {

constexpr const char* kColumns = "columns of ZipMap";  // a constant that no node reads

}  // namespace

/// The Reshape fails for scores with another number of columns than labels.
Status zipMap(OnnxNode& node) {
  OPKIT_ASSIGN(Tensor labels, labelsOf(node, "classlabels_int64s"));
  const TensorId shape = node.addConstant("shape", std::vector<int64_t>{0, labels.desc.elements()});
  node.addConstant(kColumns, std::move(labels));
  return node.emit("Reshape", {node.input(0), shape});
}

std::vector<std::string> columnLabels(const Model& model, size_t index) {
  const auto made = std::ranges::find_if(
      model.nodes, [&](const ModelNode& node) { return node.outputs == std::vector{model.outputs[index]}; });
  if (made == model.nodes.end()) return {};
  const TensorId found = model.findTensor(fmt::format("{}/{}", made->name, kColumns));
  if (!found || !model.tensors[found].constant) return {};
  const Tensor& labels = *model.tensors[found].constant;
  if (labels.desc.dtype == DType::String) return stringsOf(labels);
  std::vector<std::string> text;
  for (const int64_t label : toInt64(labels)) text.push_back(std::to_string(label));
  return text;
}

}  // namespace opkit::ops::features
