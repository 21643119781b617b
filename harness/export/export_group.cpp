#include <algorithm>

#include "engine/import/onnx/onnx_writer.h"
#include "engine/op/hidden.h"
#include "harness/check/hidden_check.h"
#include "harness/check/prepared.h"
#include "harness/export/read_back.h"

namespace opkit::harness {
namespace {

/// The ports of a node's inputs, "in0", "in1", ..., as cases name them.
std::vector<std::optional<OnnxPort>> inputPorts(const CaseNode& node) {
  std::vector<std::optional<OnnxPort>> ports;
  for (size_t i = 0; i < node.node.inputs.size(); ++i) {
    if (node.node.inputs[i])
      ports.push_back(OnnxPort{fmt::format("in{}", i), *node.node.inputs[i], {}, constantOf(node.node, i)});
    else
      ports.emplace_back();
  }
  return ports;
}

std::vector<OnnxPort> outputPorts(const std::vector<TensorDesc>& outputs) {
  std::vector<OnnxPort> ports;
  for (size_t i = 0; i < outputs.size(); ++i) ports.push_back({fmt::format("out{}", i), outputs[i], {}, nullptr});
  return ports;
}

/// Gives a port free extents where another set has others.
void free(OnnxPort& port, const TensorDesc& other) {
  port.symbols.resize(port.desc.shape.size());
  for (size_t axis = 0; axis < port.desc.shape.size(); ++axis)
    if (port.desc.shape[axis] != other.shape[axis]) port.symbols[axis] = fmt::format("{}_{}", port.name, axis);
}

/// A case with its form; the members refer to each other.
struct WrittenCase {
  PreparedCase prepared;
  CaseNode node;
  OnnxForm form;
  Return returns = Return::Case;
  ExportedSet set;
  std::vector<std::optional<OnnxPort>> inputs;
  std::vector<OnnxPort> outputs;
};

class GroupExport {
 public:
  GroupExport(const OpRegistry& registry, const OnnxRules& rules, const ExportOptions& options)
      : registry_(registry), rules_(rules), options_(options) {}

  Status add(const Case& c) {
    auto made = std::make_unique<WrittenCase>();
    made->prepared = prepareCase(c, registry_);
    OPKIT_TRY(made->prepared.status);
    const OpDef& def = *registry_.find(c.op);
    if (!def.oracle) return Status::unsupported("no expected values: {} has no oracle", c.op);
    std::vector<TensorDesc> descs;
    for (const OracleTensor& output : made->prepared.expected) descs.push_back(output.desc);
    OPKIT_ASSIGN(made->node, nodeOf(c, def, made->prepared.inputs, std::move(descs)));
    OPKIT_ASSIGN(const std::vector<OnnxForm> forms, allowedForms(made->node, rules_, options_));
    made->inputs = inputPorts(made->node);
    made->outputs = outputPorts(made->node.outputs);
    Status refusal = Status::ok();
    for (const OnnxForm& form : forms) {
      const Status status = tryForm(def, form, *made);
      if (status.isOk()) {
        written_.push_back(std::move(made));
        return Status::ok();
      }
      if (refusal.isOk()) refusal = status;
    }
    return refusal;
  }

  /// The cases as models: one for all with the same form and constants.
  Result<std::vector<ExportedModel>> models() {
    std::vector<ExportedModel> models;
    std::vector<bool> isDone(written_.size(), false);
    for (size_t first = 0; first < written_.size(); ++first) {
      if (isDone[first]) continue;
      std::vector<WrittenCase*> sets;
      for (size_t i = first; i < written_.size(); ++i) {
        if (isDone[i] || !share(*written_[first], *written_[i])) continue;
        sets.push_back(written_[i].get());
        isDone[i] = true;
      }
      OPKIT_ASSIGN(models.emplace_back(), modelOf(sets));
    }
    return models;
  }

 private:
  Status tryForm(const OpDef& def, const OnnxForm& form, WrittenCase& made) const {
    const std::vector<size_t> numbers = modelInputsOf(form, made.inputs);
    const PreparedCase& c = made.prepared;
    ExportedSet set{c.description, {}, c.expected, {}, {}};
    const auto hidden = hiddenElements(def, c);
    for (const size_t number : numbers) {
      set.inputs.push_back(*c.inputs[number]);
      set.hidden.push_back(hidden && number < hidden->size() ? (*hidden)[number] : std::vector<bool>());
    }
    for (const OracleTensor& output : c.expected)
      set.tolerances.push_back(toleranceOf(def, c.description.lane, output, c.description.boundScale));
    OPKIT_ASSIGN(const std::vector<uint8_t> bytes, writeOnnx(form, made.inputs, made.outputs));
    OPKIT_ASSIGN(made.returns, readBack(bytes, form, made.node, registry_, rules_, set));
    made.form = form;
    made.set = std::move(set);
    return Status::ok();
  }

  static bool sameConstants(const WrittenCase& a, const WrittenCase& b) {
    for (size_t i = 0; i < a.inputs.size(); ++i) {
      if (a.inputs[i].has_value() != b.inputs[i].has_value()) return false;
      if (!a.inputs[i]) continue;
      const Tensor *x = a.inputs[i]->constant, *y = b.inputs[i]->constant;
      if ((x == nullptr) != (y == nullptr)) return false;
      if (x && !sameBits({*x}, {*y}).isOk()) return false;
    }
    return true;
  }

  static bool sameRanks(const WrittenCase& a, const WrittenCase& b) {
    const auto same = [](const TensorDesc& x, const TensorDesc& y) {
      return x.dtype == y.dtype && x.shape.size() == y.shape.size();
    };
    for (size_t i = 0; i < a.inputs.size(); ++i)
      if (a.inputs[i] && !same(a.inputs[i]->desc, b.inputs[i]->desc)) return false;
    return std::ranges::equal(a.node.outputs, b.node.outputs, same);
  }

  static bool share(const WrittenCase& a, const WrittenCase& b) {
    return a.returns == b.returns && a.inputs.size() == b.inputs.size() && sameForm(a.form, b.form) &&
           sameConstants(a, b) && sameRanks(a, b);
  }

  Result<ExportedModel> modelOf(const std::vector<WrittenCase*>& sets) const {
    WrittenCase& first = *sets[0];
    std::vector<std::optional<OnnxPort>> inputs = first.inputs;
    std::vector<OnnxPort> outputs = first.outputs;
    for (const WrittenCase* other : sets) {
      for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i]) free(*inputs[i], other->inputs[i]->desc);
      for (size_t i = 0; i < outputs.size(); ++i) free(outputs[i], other->outputs[i].desc);
    }
    ExportedModel model;
    model.form = first.form;
    OPKIT_ASSIGN(model.bytes, writeOnnx(first.form, inputs, outputs));
    for (const size_t number : modelInputsOf(first.form, inputs)) model.inputs.push_back(inputs[number]->name);
    for (const OnnxPort& output : outputs) model.outputs.push_back(output.name);
    model.returnsAsCase = first.returns == Return::Case;
    for (WrittenCase* one : sets) model.sets.push_back(std::move(one->set));
    return model;
  }

  const OpRegistry& registry_;
  const OnnxRules& rules_;
  const ExportOptions& options_;
  std::vector<std::unique_ptr<WrittenCase>> written_;
};

}  // namespace

ExportedGroup exportGroup(const CaseGroup& group, const OpRegistry& registry, const OnnxRules& rules,
                          const ExportOptions& options) {
  ExportedGroup exported;
  GroupExport run(registry, rules, options);
  std::vector<Case> written;
  for (const Case& c : group.cases) {
    const Status status = run.add(c);
    if (status.isOk())
      written.push_back(c);
    else
      exported.left.emplace_back(c, status.message());
  }
  auto models = run.models();
  if (models)
    exported.models = *std::move(models);
  else
    for (const Case& c : written) exported.left.emplace_back(c, models.error().message());
  return exported;
}

}  // namespace opkit::harness
