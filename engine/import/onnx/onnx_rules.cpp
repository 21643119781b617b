#include "engine/import/onnx/onnx_rules.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/import/onnx/onnx_dtype.h"

namespace opkit {
namespace {

/// A tensor of a few values. Memory that the host refuses is std::bad_alloc, as for a container.
template <class T>
Tensor smallTensor(TensorDesc desc, const std::vector<T>& values) {
  Result<Tensor> tensor = Tensor::fromValues<T>(std::move(desc), values);
  if (tensor.error().code() == StatusCode::OutOfMemory) throw std::bad_alloc();
  return *std::move(tensor);
}

/// Whether parameters, which the caller has verified, leave every field at its default.
bool setsNothing(const ParamBytes& params) {
  constexpr size_t kNoFields = 2 * sizeof(flatbuffers::voffset_t);  // a table of offsets holds two sizes first
  if (params.empty()) return true;
  const auto* table = flatbuffers::GetRoot<flatbuffers::Table>(params.data());
  return flatbuffers::ReadScalar<flatbuffers::voffset_t>(table->GetVTable()) == kNoFields;
}

}  // namespace

TensorId OnnxNode::emitIntermediate(const std::string& type, std::vector<TensorId> inputs, ParamBytes params) {
  return emitIntermediates(type, std::move(inputs), 1, std::move(params))[0];
}

TensorId OnnxNode::addConstant(const std::string& suffix, const std::vector<int64_t>& values) {
  return addConstant(suffix, smallTensor({DType::Int64, {static_cast<int64_t>(values.size())}}, values));
}

TensorId OnnxNode::addConstant(const std::string& suffix, float scalar) {
  return addConstant(suffix, smallTensor<float>({DType::Float32, {}}, {scalar}));
}

OnnxAttribute required(const char* name, int firstOpset, int lastOpset) {
  OnnxAttribute attribute(name, firstOpset, lastOpset);
  attribute.isRequired = true;
  return attribute;
}

const OnnxAttribute* OnnxRules::Entry::attribute(const std::string& name, int opset) const {
  for (const OnnxAttribute& known : attributes)
    if (known.name == name && known.firstOpset <= opset && opset <= known.lastOpset) return &known;
  return nullptr;
}

void OnnxRules::add(const std::string& type, std::vector<OnnxAttribute> attributes, OnnxRule rule, int firstOpset,
                    int lastOpset) {
  OPKIT_CHECK(rule && firstOpset <= lastOpset);
  Name& name = names_[type];
  std::vector<Entry>& entries = name.entries;
  if (entries.empty()) name.folder = folder_;
  for (const Entry& entry : entries) OPKIT_CHECK(lastOpset < entry.firstOpset || entry.lastOpset < firstOpset);
  entries.push_back({firstOpset, lastOpset, std::move(rule), std::move(attributes)});
}

void OnnxRules::note(const std::string& type, std::vector<std::string> madeOf, std::string limits) {
  const auto name = names_.find(type);
  OPKIT_CHECK(name != names_.end());
  name->second.madeOf = std::move(madeOf);
  name->second.limits = std::move(limits);
}

const OnnxRules::Entry* OnnxRules::find(const std::string& type, int opset) const {
  const auto found = names_.find(type);
  if (found == names_.end()) return nullptr;
  for (const Entry& entry : found->second.entries)
    if (entry.firstOpset <= opset && opset <= entry.lastOpset) return &entry;
  return nullptr;
}

std::vector<std::string> OnnxRules::namesFor(const std::string& type) const {
  std::vector<std::string> names;
  for (const auto& [name, rules] : names_)
    if (std::ranges::any_of(rules.entries, [&](const Entry& entry) {
          return std::ranges::find(entry.rule.inverse.types, type) != entry.rule.inverse.types.end();
        }))
      names.push_back(name);
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name.find("::") == std::string::npos; });
  return names;
}

Result<OnnxForm> OnnxRules::formOf(const OpNode& node, const std::string& name, int opset) const {
  const Entry* entry = find(name, opset);
  if (!entry) return Status::unsupported("opset {} has no {}", opset, name);
  const OnnxInverse& inverse = entry->rule.inverse;
  if (std::ranges::find(inverse.types, node.type) == inverse.types.end())
    return Status::unsupported("no {} of opset {} is a {}", name, opset, node.type);
  OnnxForm form{name, opset, {}, {}, {}};
  form.inputs.resize(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i]) form.inputs[i].emplace<size_t>(i);
  OPKIT_TRY(inverse.write(node, form));
  while (!form.inputs.empty() && std::holds_alternative<std::monostate>(form.inputs.back())) form.inputs.pop_back();
  return form;
}

Result<int64_t> requiredInt(const OnnxNode& node, const std::string& name) {
  if (!node.hasAttribute(name)) return Status::invalidArgument("{}: attribute {} is missing", node.opType(), name);
  return node.intAttribute(name, 0);
}

Result<DType> dtypeAttribute(const OnnxNode& node, const std::string& name, int64_t fallback) {
  Result<DType> dtype = dtypeFromOnnx(node.intAttribute(name, fallback));
  return dtype ? dtype : dtype.error().withContext(name);
}

Status requireOnly(const OnnxNode& node, const std::string& name, int64_t only) {
  const int64_t given = node.intAttribute(name, only);
  return given == only ? Status::ok()
                       : Status::unsupported("{}: {} must be {}, got {}", node.opType(), name, only, given);
}

OnnxRule passThrough(std::string type) {
  OnnxInverse inverse{
      {type}, [](const OpNode& node, OnnxForm& form) {
        return setsNothing(node.params) ? Status::ok() : Status::unsupported("{} of ONNX has no parameters", form.type);
      }};
  return {[type = std::move(type)](OnnxNode& node) { return node.emit(type, node.inputs()); }, std::move(inverse)};
}

}  // namespace opkit
