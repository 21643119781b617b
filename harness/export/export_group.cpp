#include <algorithm>
#include <cmath>

#include "engine/import/onnx/onnx_writer.h"
#include "engine/op/hidden.h"
#include "engine/op/oracle_elements.h"
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

std::vector<OnnxPort> outputPorts(const std::vector<OracleTensor>& outputs) {
  std::vector<OnnxPort> ports;
  for (size_t i = 0; i < outputs.size(); ++i) ports.push_back({fmt::format("out{}", i), outputs[i].desc, {}, nullptr});
  return ports;
}

/// The first `count` slices along an axis.
OracleTensor firstSlices(const OracleTensor& whole, size_t axis, int64_t count) {
  TensorDesc desc = whole.desc;
  const int64_t extent = desc.shape[axis];
  desc.shape[axis] = count;
  OracleTensor part(desc);
  int64_t inner = 1;
  for (size_t i = axis + 1; i < desc.shape.size(); ++i) inner *= desc.shape[i];
  for (int64_t i = 0; i < part.elements(); ++i) {
    const auto from = static_cast<size_t>(i / (count * inner) * extent * inner + i % (count * inner));
    copyElement(whole, from, part, static_cast<size_t>(i));
  }
  return part;
}

/// The outputs that the form has.
Result<std::vector<OracleTensor>> outputsOf(const OnnxForm& form, const std::vector<OracleTensor>& all) {
  if (form.outputs.empty()) return all;
  std::vector<OracleTensor> outputs;
  for (const OnnxOutput& output : form.outputs) {
    if (output.number >= all.size() || output.count.value_or(0) >= all.size())
      return Status::unsupported("no such form in ONNX: the case leaves out outputs of {}", form.type);
    const OracleTensor& whole = all[output.number];
    if (!output.count) {
      outputs.push_back(whole);
      continue;
    }
    const int64_t count = all[*output.count].integer.at(0);
    if (output.axis >= whole.shape().size() || count < 0 || count > whole.shape()[output.axis])
      return Status::internal("{} uses {} slices of axis {} of {}", form.type, count, output.axis,
                              whole.desc.toString());
    outputs.push_back(firstSlices(whole, output.axis, count));
  }
  return outputs;
}

/// Gives a port free extents where another set has others.
void freeExtents(OnnxPort& port, const TensorDesc& other) {
  port.symbols.resize(port.desc.shape.size());
  for (size_t axis = 0; axis < port.desc.shape.size(); ++axis)
    if (port.desc.shape[axis] != other.shape[axis]) port.symbols[axis] = fmt::format("{}_{}", port.name, axis);
}

/// Widens bounds about `expected`, so that they hold for `other` too: what an engine may give that takes denormal
/// inputs as zero. Integers and infinities keep theirs.
void admit(const OracleTensor& other, const OracleTensor& expected, Tolerance& tolerance) {
  if (tolerance.byClass || !expected.isReal() || other.desc != expected.desc) return;
  for (size_t i = 0; i < expected.real.size(); ++i) {
    const double distance = std::fabs(other.real[i] - expected.real[i]);
    if (distance == 0 || !std::isfinite(distance)) continue;
    tolerance.bound.resize(expected.real.size(), 0);
    tolerance.bound[i] += distance;
  }
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

/// ONNX does not say which of two zeros is the greater one, and for fmod it allows both.
bool takesEitherZero(const OnnxForm& form) { return form.type == "Max" || form.type == "Min" || form.type == "Mod"; }

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
    if (const auto& stored = made->prepared.stored; stored && !stored->isOk())
      return Status::unsupported("no expected values: {}", stored->message());
    std::vector<TensorDesc> descs;
    for (const OracleTensor& output : made->prepared.expected) descs.push_back(output.desc);
    OPKIT_ASSIGN(made->node, nodeOf(c, def, made->prepared.inputs, std::move(descs)));
    OPKIT_ASSIGN(const std::vector<OnnxForm> forms, allowedForms(made->node, rules_, options_));
    made->inputs = inputPorts(made->node);
    Status refusal = Status::ok();
    for (const OnnxForm& form : forms) {
      const Status status = tryForm(def, form, *made);
      if (status.isOk()) {
        written_.push_back(std::move(made));
        return status;
      }
      // A form that means something else is a fault of its rule, which an older form must not hide.
      if (status.message().starts_with(kOtherMeaning)) return status;
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
    OPKIT_ASSIGN(std::vector<OracleTensor> outputs, outputsOf(form, c.expected));
    std::vector<OnnxPort> ports = outputPorts(outputs);
    ExportedSet set{c.description, {}, std::move(outputs), {}, {}};
    const auto hidden = hiddenElements(def, c);
    for (const size_t number : numbers) {
      set.inputs.push_back(*c.inputs[number]);
      set.hidden.push_back(hidden && number < hidden->size() ? (*hidden)[number] : std::vector<bool>());
    }
    for (const OracleTensor& output : set.expected) {
      set.tolerances.push_back(toleranceOf(def, c.description.lane, output, c.description.boundScale));
      if (takesEitherZero(form)) set.tolerances.back().signOfZero = false;
    }
    if (form.outputs.empty())
      for (size_t i = 0; i < c.flushed.size(); ++i) admit(c.flushed[i], set.expected[i], set.tolerances[i]);
    OPKIT_ASSIGN(const std::vector<uint8_t> bytes, writeOnnx(form, made.inputs, ports));
    OPKIT_ASSIGN(made.returns, readBack(bytes, form, made.node, registry_, rules_, set));
    made.form = form;
    made.outputs = std::move(ports);
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
    return std::ranges::equal(a.outputs, b.outputs,
                              [&](const OnnxPort& x, const OnnxPort& y) { return same(x.desc, y.desc); });
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
        if (inputs[i]) freeExtents(*inputs[i], other->inputs[i]->desc);
      for (size_t i = 0; i < outputs.size(); ++i) freeExtents(outputs[i], other->outputs[i].desc);
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
