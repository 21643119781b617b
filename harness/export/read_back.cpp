#include "harness/export/read_back.h"

#include "engine/import/onnx/onnx_importer.h"
#include "harness/compare/compare.h"
#include "harness/compare/expected.h"

namespace opkit::harness {
namespace {

constexpr const char* kOwnParameter = "a parameter of OpKit's own";

/// Parameters that no operator of ONNX has: an activation behind a kernel, and what passes and decompositions make.
constexpr std::pair<const char*, const char*> kOwnParameters[] = {{"", "clamp_low"},
                                                                  {"", "clamp_high"},
                                                                  {"FusedAttention", "softcap"},
                                                                  {"FusedAttention", "left"},
                                                                  {"FusedAttention", "right"},
                                                                  {"FusedAttention", "past"},
                                                                  {"FusedAttention", "q_heads"},
                                                                  {"FusedAttention", "kv_heads"},
                                                                  {"GroupNormalization", "by_group"},
                                                                  {"InstanceNormalization", "groups"},
                                                                  {"LayerNormalization", "centred"},
                                                                  {"RotaryEmbedding", "rotary_dim"},
                                                                  {"SpaceToDepth", "order"}};

/// The first such parameter that a case sets; empty if there is none.
std::string ownParameterOf(const Case& c) {
  for (const auto& [op, name] : kOwnParameters)
    if ((!*op || c.op == op) && c.params.find(fmt::format("\"{}\":", name)) != std::string::npos) return name;
  return "";
}

class ReadBack {
 public:
  ReadBack(const OnnxForm& form, const CaseNode& node, const OpRegistry& registry, const OnnxRules& rules,
           const ExportedSet& set)
      : form_(form), node_(node), registry_(registry), rules_(rules), set_(set) {}

  Result<Return> run(Model model) {
    const Status same = sameNode(model);
    if (same.isOk()) return Return::Case;
    const Status values = sameValues(std::move(model));
    if (values.isOk()) return Return::Values;
    const std::string own = ownParameterOf(set_.description);
    if (!own.empty()) return Status::unsupported("{}: {} of {}", kOwnParameter, own, node_.node.type);
    return Status::unsupported("{}: {}; {}", kOtherMeaning, same.message(), values.message());
  }

 private:
  Status sameNode(const Model& model) const {
    const size_t count = model.nodes.size();
    if (count != 1) return Status::internal("{} of opset {} is read as {} nodes", form_.type, form_.opset, count);
    const ModelNode& got = model.nodes[NodeId(0)];
    if (got.type != node_.node.type) return Status::internal("{} is read as {}", form_.type, got.type);
    OPKIT_TRY(sameInputs(model, got));
    if (got.outputs.size() != node_.node.outputs || !form_.outputs.empty())
      return Status::internal("{} outputs are read as {}", node_.node.outputs, got.outputs.size());
    const OpDef& def = *registry_.find(got.type);
    if (sameParams(def.params, got.params, node_.node.params)) return Status::ok();
    return sameMeaning(def, got);
  }

  /// The inputs are those that were written, in their places.
  Status sameInputs(const Model& model, const ModelNode& got) const {
    const std::vector<std::optional<TensorDesc>>& written = node_.node.inputs;
    for (size_t i = 0; i < std::max(got.inputs.size(), written.size()); ++i) {
      const bool isGiven = i < written.size() && written[i];
      const bool isRead = i < got.inputs.size() && got.inputs[i];
      if (isGiven != isRead) return Status::internal("input {} is {}", i, isRead ? "read from elsewhere" : "lost");
      if (!isRead) continue;
      const ModelTensor& tensor = model.tensors[got.inputs[i]];
      const Tensor* constant = constantOf(node_.node, i);
      const bool isSame = constant ? tensor.constant && sameBits({*tensor.constant}, {*constant}).isOk()
                                   : !tensor.constant && tensor.name == fmt::format("in{}", i);
      if (!isSame) return Status::internal("input {} is read as '{}'", i, tensor.name);
    }
    return Status::ok();
  }

  /// Other bytes of parameters with the same form, which give the same outputs.
  Status sameMeaning(const OpDef& def, const ModelNode& got) const {
    OpNode again = node_.node;
    again.params = got.params;
    const auto form = rules_.formOf(again, form_.type, form_.opset);
    const Status other = Status::internal("parameters {} are read as {}", paramsToJson(def.params, node_.node.params),
                                          paramsToJson(def.params, got.params));
    if (!form || !sameForm(*form, form_)) return other;
    const auto outputs = expectedOutputs(def, got.params, *node_.inputs, node_.node.outputs);
    if (!outputs) return outputs.error();
    for (size_t i = 0; i < outputs->size(); ++i) {
      const OracleTensor &a = (*outputs)[i], &b = set_.expected[i];
      const auto sameReal = [](double x, double y) { return x == y || (x != x && y != y); };
      if (a.desc != b.desc || a.integer != b.integer || !std::ranges::equal(a.real, b.real, sameReal)) return other;
    }
    return Status::ok();
  }

  /// The nodes of the model give the expected values on backend `reference`.
  Status sameValues(Model model) const {
    const std::vector<TensorId> ids = model.inputs;
    std::vector<std::string> names;
    for (const TensorId id : ids) names.push_back(model.tensors[id].name);
    if (names.size() != set_.inputs.size())
      return Status::internal("{} inputs are read as {}", set_.inputs.size(), names.size());
    OPKIT_ASSIGN(const auto interpreter, Interpreter::create(std::move(model), registry_));
    OPKIT_ASSIGN(const auto session, interpreter->createSession({.backend = "reference", .threads = 1}));
    for (size_t i = 0; i < names.size(); ++i) OPKIT_TRY(session->resizeInput(names[i], set_.inputs[i].desc.shape));
    for (size_t i = 0; i < names.size(); ++i) {
      Tensor* target = session->fillInput(names[i]);
      if (target->desc != set_.inputs[i].desc)
        return Status::internal("input '{}' is {}", names[i], target->desc.toString());
      std::ranges::copy(set_.inputs[i].bytes(), target->bytes().begin());
    }
    OPKIT_TRY(session->run());
    OPKIT_ASSIGN(const std::vector<Tensor> outputs, copyOutputs(*session));
    if (outputs.size() != set_.expected.size()) return Status::internal("{} outputs are read", outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Comparison one = compareTensor(set_.expected[i], outputs[i], set_.tolerances[i]);
      if (!one.pass) return Status::internal("{}", one.reason);
    }
    return Status::ok();
  }

  const OnnxForm& form_;
  const CaseNode& node_;
  const OpRegistry& registry_;
  const OnnxRules& rules_;
  const ExportedSet& set_;
};

bool sameTensor(const Tensor& a, const Tensor& b) {
  return a.desc == b.desc && (isObject(a.desc.dtype) || std::ranges::equal(a.bytes(), b.bytes()));
}

template <class Variant>
bool sameVariant(const Variant& a, const Variant& b) {
  if (a.index() != b.index()) return false;
  const auto *left = std::get_if<Tensor>(&a), *right = std::get_if<Tensor>(&b);
  if (left) return sameTensor(*left, *right);
  return std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>)
          return false;
        else
          return value == std::get<T>(b);
      },
      a);
}

}  // namespace

bool sameForm(const OnnxForm& a, const OnnxForm& b) {
  const auto sameAttribute = [](const auto& x, const auto& y) {
    return x.first == y.first && sameVariant(x.second, y.second);
  };
  return a.type == b.type && a.opset == b.opset && std::ranges::equal(a.attributes, b.attributes, sameAttribute) &&
         std::ranges::equal(a.inputs, b.inputs, sameVariant<OnnxInput>);
}

Result<Return> readBack(const std::vector<uint8_t>& bytes, const OnnxForm& form, const CaseNode& node,
                        const OpRegistry& registry, const OnnxRules& rules, const ExportedSet& set) {
  auto model = importOnnx(bytes, rules, registry);
  const std::string own = ownParameterOf(set.description);
  if (!model && !own.empty()) return Status::unsupported("{}: {} of {}", kOwnParameter, own, node.node.type);
  if (!model) return Status::unsupported("{}: {}", kOtherMeaning, model.error().message());
  return ReadBack(form, node, registry, rules, set).run(*std::move(model));
}

}  // namespace opkit::harness
