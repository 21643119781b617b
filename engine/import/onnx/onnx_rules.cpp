#include "engine/import/onnx/onnx_rules.h"

#include "engine/base/check.h"

namespace opkit {
namespace {

/// A tensor of a few values; the host always has memory for it.
template <class T>
Tensor smallTensor(TensorDesc desc, const std::vector<T>& values) {
  Result<Tensor> tensor = Tensor::fromValues<T>(std::move(desc), values);
  OPKIT_CHECK(tensor.has_value());
  return *std::move(tensor);
}

}  // namespace

int OnnxNode::emitIntermediate(const std::string& type, std::vector<int> inputs, ParamBytes params) {
  return emitIntermediates(type, std::move(inputs), 1, std::move(params))[0];
}

int OnnxNode::addConstant(const std::string& suffix, const std::vector<int64_t>& values) {
  return addConstant(suffix, smallTensor({DType::Int64, {static_cast<int64_t>(values.size())}}, values));
}

int OnnxNode::addConstant(const std::string& suffix, float scalar) {
  return addConstant(suffix, smallTensor<float>({DType::Float32, {}}, {scalar}));
}

void OnnxRules::add(const std::string& type, std::vector<std::string> attributes, OnnxRule rule, int firstOpset,
                    int lastOpset) {
  OPKIT_CHECK(rule && firstOpset <= lastOpset);
  std::vector<Entry>& entries = entries_[type];
  for (const Entry& entry : entries) OPKIT_CHECK(lastOpset < entry.firstOpset || entry.lastOpset < firstOpset);
  entries.push_back({firstOpset, lastOpset, std::move(rule), std::move(attributes)});
}

const OnnxRules::Entry* OnnxRules::find(const std::string& type, int opset) const {
  const auto found = entries_.find(type);
  if (found == entries_.end()) return nullptr;
  for (const Entry& entry : found->second)
    if (entry.firstOpset <= opset && opset <= entry.lastOpset) return &entry;
  return nullptr;
}

std::vector<std::string> OnnxRules::types() const {
  std::vector<std::string> list;
  for (const auto& [type, entries] : entries_) list.push_back(type);
  return list;
}

Result<int64_t> requiredInt(const OnnxNode& node, const std::string& name) {
  if (!node.hasAttribute(name)) return Status::invalidArgument("{}: attribute {} is missing", node.opType(), name);
  return node.intAttribute(name, 0);
}

Status requireOnly(const OnnxNode& node, const std::string& name, int64_t only) {
  const int64_t given = node.intAttribute(name, only);
  return given == only ? Status::ok()
                       : Status::unsupported("{}: {} must be {}, got {}", node.opType(), name, only, given);
}

OnnxRule passThrough(std::string type) {
  return [type = std::move(type)](OnnxNode& node) { return node.emit(type, node.inputs()); };
}

}  // namespace opkit
