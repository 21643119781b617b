#include "harness/check/op_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/tensor/float_format.h"
#include "harness/compare/compare.h"
#include "harness/compare/expected.h"

namespace opkit::harness {
namespace {

std::string inputName(size_t i) { return fmt::format("in{}", i); }

TensorDesc withFreeExtents(TensorDesc desc) {
  std::fill(desc.shape.begin(), desc.shape.end(), kDynamic);
  return desc;
}

template <class T>
bool isNaN(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  if constexpr (std::is_same_v<T, Half>) return std::isnan(toFloat(value));
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

Status sameOutputBits(const Tensor& a, const Tensor& b, size_t output, bool anyNaN) {
  if (a.desc != b.desc)
    return Status::internal("output {} is {} in the first run and {} in the second", output, a.desc.toString(),
                            b.desc.toString());
  if (std::ranges::equal(a.bytes(), b.bytes())) return Status::ok();
  const std::vector<bool> differing = differingElements(a, b, anyNaN);
  const auto first = std::ranges::find(differing, true);
  if (first == differing.end()) return Status::ok();
  return Status::internal("output {} differs in {} of {} elements, first at {}", output,
                          std::ranges::count(differing, true), a.desc.elements(),
                          coordinates(a.desc.shape, first - differing.begin()));
}

}  // namespace

Result<std::shared_ptr<Interpreter>> makeOpInterpreter(const Case& c, const OpRegistry& registry,
                                                       const HostInputs& inputs, size_t copies, bool fixedShapes) {
  const OpDef* def = registry.find(c.op);
  if (!def) return Status::invalidArgument("unknown operator '{}'", c.op);
  OPKIT_ASSIGN(ParamBytes params, paramsFromJson(def->params, c.params));
  Model model;
  model.producer = "op-harness";
  std::vector<TensorId> indices;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i])
      indices.emplace_back();
    else if (c.isConstant(i))
      indices.push_back(model.addConstant(inputName(i), *inputs[i]));
    else
      indices.push_back(model.addInput(inputName(i), fixedShapes ? inputs[i]->desc : withFreeExtents(inputs[i]->desc)));
  }
  const size_t outputs = c.outputs ? c.outputs : requiredOutputs(*def);
  for (size_t i = 0; i < copies; ++i) {
    const std::string name = i == 0 ? "node" : fmt::format("node{}", i);
    const std::vector<TensorId> made = model.addNode(c.op, name, indices, params, outputs);
    model.outputs.insert(model.outputs.end(), made.begin(), made.end());
  }
  return Interpreter::create(std::move(model), registry);
}

Status feed(Session& session, const Case& c, const HostInputs& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || c.isConstant(i)) continue;
    OPKIT_TRY(session.resizeInput(inputName(i), inputs[i]->desc.shape));
    const Tensor* target = session.fillInput(inputName(i));
    if (!target || target->desc != inputs[i]->desc)
      return Status::internal("the session's input {} is not {}", inputName(i), inputs[i]->desc.toString());
    std::ranges::copy(inputs[i]->bytes(), target->bytes().begin());
  }
  return Status::ok();
}

Result<std::vector<Tensor>> copyOutputs(const Session& session) {
  std::vector<Tensor> outputs;
  for (const std::string& name : session.outputNames()) {
    const Tensor* output = session.output(name);
    if (!output) return Status::internal("the session has no output '{}'", name);
    OPKIT_ASSIGN(Tensor copy, copyOf(*output));
    outputs.push_back(std::move(copy));
  }
  return outputs;
}

KernelRun rerunInSession(const Case& c, const OpRegistry& registry, const SessionConfig& config,
                         const std::shared_ptr<Runtime>& runtime) {
  struct Kept {
    HostInputs made;  // holds the constants' memory, so that another constant has another address
    std::unique_ptr<Session> session;
  };
  const auto isKept = [c](const Kept& kept, const HostInputs& inputs) {
    if (!kept.session) return false;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] && c.isConstant(i) && inputs[i]->bytes().data() != kept.made[i]->bytes().data()) return false;
    return true;
  };
  return [=, &registry, kept = std::make_shared<Kept>()](const HostInputs& inputs) -> Result<std::vector<Tensor>> {
    if (!isKept(*kept, inputs)) {
      kept->session = nullptr;
      OPKIT_ASSIGN(const auto interpreter, makeOpInterpreter(c, registry, inputs));
      OPKIT_ASSIGN(kept->session, interpreter->createSession(config, runtime));
      kept->made = inputs;
    }
    OPKIT_TRY(feed(*kept->session, c, inputs));
    OPKIT_TRY(kept->session->run());
    return copyOutputs(*kept->session);
  };
}

std::vector<bool> differingElements(const Tensor& a, const Tensor& b, bool anyNaN) {
  std::vector<bool> differing(static_cast<size_t>(a.desc.elements()));
  if (isCoded(a.desc.dtype)) {
    for (size_t i = 0; i < differing.size(); ++i) {
      const bool bothNaN = anyNaN && std::isnan(readCoded(a, i)) && std::isnan(readCoded(b, i));
      differing[i] = readCode(a, i) != readCode(b, i) && !bothNaN;
    }
    return differing;
  }
  visitDType(a.desc.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::byte *x = a.bytes().data(), *y = b.bytes().data();
    for (size_t i = 0; i < differing.size(); ++i, x += sizeof(T), y += sizeof(T))
      differing[i] = std::memcmp(x, y, sizeof(T)) != 0 && !(anyNaN && isNaN<T>(x) && isNaN<T>(y));
  });
  return differing;
}

Status sameBits(const std::vector<Tensor>& a, const std::vector<Tensor>& b, bool anyNaN) {
  if (a.size() != b.size())
    return Status::internal("{} outputs in the first run and {} in the second", a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) OPKIT_TRY(sameOutputBits(a[i], b[i], i, anyNaN));
  return Status::ok();
}

}  // namespace opkit::harness
