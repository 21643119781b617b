#include "harness/export/choose_form.h"

#include <algorithm>

#include "harness/export/operator_facts.h"

namespace opkit::harness {
namespace {

constexpr const char* kNoName = "no operator of ONNX";
constexpr const char* kNoForm = "no such form in ONNX";
constexpr const char* kNoType = "a type that ONNX forbids";
constexpr const char* kNoShape = "inputs or outputs that ONNX lacks";

Status refused(const char* kind, const std::string& why) { return Status::unsupported("{}: {}", kind, why); }

/// As the specification names types.
std::string specName(DType dtype) {
  switch (dtype) {
    case DType::Float32: return "float";
    case DType::Float16: return "float16";
    case DType::Float64: return "double";
    case DType::BFloat16: return "bfloat16";
    case DType::Int8: return "int8";
    case DType::UInt8: return "uint8";
    case DType::Int16: return "int16";
    case DType::UInt16: return "uint16";
    case DType::Int32: return "int32";
    case DType::UInt32: return "uint32";
    case DType::Int64: return "int64";
    case DType::UInt64: return "uint64";
    case DType::Bool: return "bool";
    case DType::String: return "string";
    case DType::Float8E4M3FN: return "float8e4m3fn";
    case DType::Float8E4M3FNUZ: return "float8e4m3fnuz";
    case DType::Float8E5M2: return "float8e5m2";
    case DType::Float8E5M2FNUZ: return "float8e5m2fnuz";
    case DType::Float8E8M0: return "float8e8m0";
    case DType::Float4E2M1: return "float4e2m1";
    case DType::Int4: return "int4";
    case DType::UInt4: return "uint4";
    case DType::Int2: return "int2";
    case DType::UInt2: return "uint2";
    default: return "an object";
  }
}

/// The type of an attribute as the tables name it.
std::string attributeType(const OnnxValue& value) {
  constexpr const char* kNames[] = {"int", "float", "string", "ints", "floats", "strings", "tensor"};
  return kNames[value.index()];
}

/// One form against the facts of its version.
class FormCheck {
 public:
  FormCheck(const OperatorFact& fact, const OnnxForm& form, const CaseNode& node)
      : fact_(fact), form_(form), node_(node) {}

  Status run() {
    OPKIT_TRY(checkAttributes());
    OPKIT_TRY(checkInputs());
    return checkOutputs();
  }

 private:
  std::string title() const { return fmt::format("{} of opset {}", form_.type, form_.opset); }

  Status checkAttributes() const {
    for (const auto& [name, value] : form_.attributes) {
      const AttributeFact* known = fact_.find(name);
      if (!known) return refused(kNoForm, fmt::format("{} has no attribute {}", title(), name));
      if (known->type != attributeType(value))
        return Status::internal("{} of {} is {} in the specification, {} here", name, title(), known->type,
                                attributeType(value));
      const auto* word = std::get_if<std::string>(&value);
      if (word && !known->words.empty() && std::ranges::find(known->words, *word) == known->words.end())
        return refused(kNoForm, fmt::format("{} of {} cannot be '{}'", name, title(), *word));
    }
    for (const AttributeFact& known : fact_.attributes)
      if (known.isRequired && !form_.attributes.contains(known.name))
        return refused(kNoForm, fmt::format("{} must have {}", title(), known.name));
    return Status::ok();
  }

  /// The port of a value; the last one if that is variadic.
  static const PortFact* portOf(const std::vector<PortFact>& ports, size_t i) {
    if (i < ports.size()) return &ports[i];
    return !ports.empty() && ports.back().isVariadic ? &ports.back() : nullptr;
  }

  Status checkInputs() {
    for (size_t i = 0; i < std::max(form_.inputs.size(), fact_.inputs.size()); ++i) {
      const bool isGiven = i < form_.inputs.size() && !std::holds_alternative<std::monostate>(form_.inputs[i]);
      const PortFact* port = portOf(fact_.inputs, i);
      if (!port) return refused(kNoShape, fmt::format("{} has {} inputs at most", title(), fact_.inputs.size()));
      if (isGiven)
        OPKIT_TRY(checkType(*port, typeOfInput(i)));
      else if (!port->isOptional && !port->isVariadic)
        return refused(kNoShape, fmt::format("{} must have {}", title(), port->name));
    }
    return Status::ok();
  }

  DType typeOfInput(size_t i) const {
    if (const auto* constant = std::get_if<Tensor>(&form_.inputs[i])) return constant->desc.dtype;
    return node_.node.inputs[std::get<size_t>(form_.inputs[i])]->dtype;
  }

  Status checkOutputs() {
    const size_t count = form_.outputs.empty() ? node_.outputs.size() : form_.outputs.size();
    for (size_t i = 0; i < count; ++i) {
      const PortFact* port = portOf(fact_.outputs, i);
      if (!port) return refused(kNoShape, fmt::format("{} has {} outputs at most", title(), fact_.outputs.size()));
      OPKIT_TRY(checkType(*port, node_.outputs[form_.outputs.empty() ? i : form_.outputs[i].number].dtype));
    }
    for (size_t i = count; i < fact_.outputs.size(); ++i)
      if (!fact_.outputs[i].isOptional && !fact_.outputs[i].isVariadic)
        return refused(kNoShape, fmt::format("{} must have {}", title(), fact_.outputs[i].name));
    return Status::ok();
  }

  /// The type must be one of the port's. Ports of one variable have one type.
  Status checkType(const PortFact& port, DType dtype) {
    const std::string name = specName(dtype);
    if (std::ranges::find(port.types, name) == port.types.end())
      return refused(kNoType, fmt::format("{} of {} may not be {}", port.name, title(), name));
    if (port.variable.empty() || port.isVariadic) return Status::ok();
    const auto [bound, isNew] = bound_.emplace(port.variable, name);
    if (bound->second == name) return Status::ok();
    return refused(kNoType, fmt::format("{} of {} must be {}, as another of {}", port.name, title(), bound->second,
                                        port.variable));
  }

  const OperatorFact& fact_;
  const OnnxForm& form_;
  const CaseNode& node_;
  std::map<std::string, std::string> bound_;  // types of variables
};

/// The versions of an operator, newest first.
std::vector<const OperatorFact*> versionsOf(const std::string& name) {
  std::vector<const OperatorFact*> versions;
  for (const OperatorFact& fact : operatorFacts())
    if (fact.ruleName() == name) versions.push_back(&fact);
  std::ranges::reverse(versions);
  return versions;
}

/// The names of a node of OpKit, those that the newest version deprecates last.
std::vector<std::string> namesOf(const OnnxRules& rules, const std::string& type) {
  std::vector<std::string> names = rules.namesFor(type);
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) {
    const auto versions = versionsOf(name);
    return versions.empty() || !versions[0]->isDeprecated;
  });
  return names;
}

}  // namespace

Result<CaseNode> nodeOf(const Case& c, const OpDef& def, const HostInputs& inputs, std::vector<TensorDesc> outputs) {
  CaseNode made;
  made.node.type = c.op;
  OPKIT_ASSIGN(made.node.params, paramsFromJson(def.params, c.params));
  for (size_t i = 0; i < inputs.size(); ++i) {
    made.node.inputs.push_back(inputs[i] ? std::optional(inputs[i]->desc) : std::nullopt);
    made.node.values.push_back(inputs[i] ? &*inputs[i] : nullptr);
    made.node.isConstant.push_back(inputs[i] && c.isConstant(i));
  }
  made.node.outputs = outputs.size();
  made.outputs = std::move(outputs);
  made.inputs = &inputs;
  return made;
}

Result<std::vector<OnnxForm>> allowedForms(const CaseNode& node, const OnnxRules& rules, const ExportOptions& options) {
  std::vector<OnnxForm> forms;
  Status first = refused(kNoName, fmt::format("{} is OpKit's own", node.node.type));
  bool hasReason = false;
  for (const std::string& name : namesOf(rules, node.node.type)) {
    const bool isOther = name.find("::") != std::string::npos;  // of another domain
    const bool isChosen = options.opset > 0 && !isOther;
    for (const OperatorFact* fact : versionsOf(name)) {
      if (fact->isDeprecated) continue;
      if (isChosen && (options.opset < fact->since || options.opset > fact->until)) continue;
      if (!isOther && fact->since > options.newest) continue;
      const int opset = isChosen ? options.opset : fact->since;
      auto form = rules.formOf(node.node, name, opset);
      const Status status = form ? FormCheck(*fact, *form, node).run() : form.error();
      if (status.isOk()) {
        forms.push_back(*std::move(form));
        continue;
      }
      if (status.code() == StatusCode::Internal) return status;
      if (!hasReason) first = form ? status : refused(kNoForm, status.message());
      hasReason = true;
    }
  }
  if (forms.empty()) return first;
  return forms;
}

}  // namespace opkit::harness
