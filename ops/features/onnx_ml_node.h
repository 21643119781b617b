// For tests of the rules of ai.onnx.ml: a node with attributes, the network that its rule makes, and the outputs of
// that network on every backend.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"

namespace opkit::ops::features {

using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;

/// A node of ai.onnx.ml, or of another domain if the type names one, and the network that its rule makes.
class Node final : public OnnxNode {
 public:
  Node(std::string type, const std::vector<TensorDesc>& inputs) : type_(std::move(type)) {
    for (const TensorDesc& input : inputs) inputs_.push_back(model.addInput(fmt::format("x{}", inputs_.size()), input));
  }

  Status import() {
    const OnnxRules::Entry* entry = builtinOnnxRules().find(domain + type_, version);
    return entry ? entry->rule(*this) : Status::internal("no rule for {}", type_);
  }

  const std::string& opType() const override { return type_; }
  int opset() const override { return version; }
  const std::string& name() const override { return type_; }
  bool hasAttribute(const std::string& name) const override {
    return number.contains(name) || integer.contains(name) || text.contains(name) || numbers.contains(name) ||
           integers.contains(name) || texts.contains(name) || tensors.contains(name);
  }
  int64_t intAttribute(const std::string& name, int64_t fallback) const override {
    return get(integer, name, fallback);
  }
  float floatAttribute(const std::string& name, float fallback) const override { return get(number, name, fallback); }
  std::string stringAttribute(const std::string& name, const std::string& fallback) const override {
    return get(text, name, fallback);
  }
  Integers intsAttribute(const std::string& name) const override { return get(integers, name, {}); }
  Floats floatsAttribute(const std::string& name) const override { return get(numbers, name, {}); }
  std::vector<std::string> stringsAttribute(const std::string& name) const override { return get(texts, name, {}); }
  Result<Tensor> tensorAttribute(const std::string& name) const override {
    if (const auto found = tensors.find(name); found != tensors.end()) return found->second;
    return Status::unsupported("no tensor '{}'", name);
  }
  size_t inputCount() const override { return inputs_.size(); }
  size_t outputCount() const override { return usedOutputs; }
  TensorId input(size_t index) const override { return index < inputs_.size() ? inputs_[index] : TensorId(); }
  std::vector<TensorId> inputs() const override { return inputs_; }
  Result<DType> declaredType(size_t index) const override { return model.tensors[input(index)].desc.dtype; }
  const Tensor* constantInput(size_t index) const override {
    const TensorId tensor = input(index);
    if (!tensor || !model.tensors[tensor].constant) return nullptr;
    return &*model.tensors[tensor].constant;
  }
  /// Makes input `index` a constant.
  void setConstant(size_t index, Tensor value) {
    std::erase(model.inputs, inputs_[index]);
    model.tensors[inputs_[index]].constant = std::move(value);
  }
  void leaveOut(size_t index) { replace(index, TensorId()); }
  /// Makes input `index` a value that the network computes.
  void replace(size_t index, TensorId value) { std::erase(model.inputs, std::exchange(inputs_[index], value)); }
  using OnnxNode::addConstant;
  TensorId addConstant(const std::string& suffix, Tensor value) override {
    return model.addConstant(fmt::format("{}{}", suffix, model.tensors.size()), std::move(value));
  }
  Status emit(const std::string& type, std::vector<TensorId> inputs, ParamBytes params) override {
    model.outputs = emitIntermediates(type, std::move(inputs), usedOutputs, std::move(params));
    return Status::ok();
  }
  Status emitOutput(size_t index, const std::string& type, std::vector<TensorId> inputs, ParamBytes params) override {
    model.outputs.resize(std::max(model.outputs.size(), index + 1));
    model.outputs[index] = emitIntermediate(type, std::move(inputs), std::move(params));
    return Status::ok();
  }
  Result<std::vector<TensorId>> inlineGraph(const std::string&, const std::vector<TensorId>&) override {
    return Status::unsupported("no graphs");
  }
  Status emitControl(const std::string&, std::vector<TensorId>, const std::vector<std::string>&, ParamBytes) override {
    return Status::unsupported("no control flow");
  }
  Status emitConstant(Tensor) override { return Status::unsupported("no constants"); }
  std::vector<TensorId> emitIntermediates(const std::string& type, std::vector<TensorId> inputs, size_t outputs,
                                          ParamBytes params) override {
    return model.addNode(type, fmt::format("node{}", model.nodes.size()), std::move(inputs), std::move(params),
                         outputs);
  }

  Model model;
  std::string domain = "ai.onnx.ml::";
  int version = 1;
  size_t usedOutputs = 1;
  std::map<std::string, float> number;
  std::map<std::string, int64_t> integer;
  std::map<std::string, std::string> text;
  std::map<std::string, Floats> numbers;
  std::map<std::string, Integers> integers;
  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, Tensor> tensors;

 private:
  template <class T>
  static T get(const std::map<std::string, T>& values, const std::string& name, T fallback) {
    const auto found = values.find(name);
    return found == values.end() ? fallback : found->second;
  }

  std::string type_;
  std::vector<TensorId> inputs_;
};

template <class T>
Tensor tensor(DType dtype, Shape shape, const std::vector<T>& values) {
  return *Tensor::fromValues<T>({dtype, std::move(shape)}, values);
}
inline Tensor floats(Shape shape, const Floats& values) { return tensor(DType::Float32, std::move(shape), values); }

inline std::vector<std::string> backends() {
#ifdef OPKIT_HAS_VULKAN
  return {"cpu", "vulkan"};
#else
  return {"cpu"};
#endif
}

/// The expected output; f32 within a relative `tolerance`. NaN equals NaN.
struct Expected {
  Shape shape;
  std::vector<double> values;
  double tolerance = 1e-6;
};

inline void expectTensor(const Tensor& y, const Expected& expected, const std::string& where) {
  ASSERT_EQ(y.desc.shape, expected.shape) << where;
  const OracleTensor got = OracleTensor::fromTensor(y);
  for (size_t i = 0; i < expected.values.size(); ++i) {
    const double value = got.isReal() ? got.real[i] : static_cast<double>(got.integer[i]), right = expected.values[i];
    const bool isRight = std::isnan(right)
                             ? std::isnan(value)
                             : right == value || std::fabs(value - right) <= expected.tolerance * std::fabs(right);
    EXPECT_TRUE(isRight) << where << " [" << i << "] expected " << right << ", got " << value;
  }
}

/// Runs the network of the node's rule on a backend and gives the outputs to `judge`. An error of the run is returned.
/// Inputs that the network lacks are not set: constants and absent ones.
template <class Judge>
Status runNetwork(const Node& node, const std::string& backend, const std::vector<Tensor>& inputs, const Judge& judge) {
  OPKIT_ASSIGN(const auto interpreter, Interpreter::create(node.model, builtinOps()));
  OPKIT_ASSIGN(const auto session, interpreter->createSession({.backend = backend, .threads = 1}));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (std::ranges::count(node.model.inputs, node.input(i)) > 0)
      convertElements(inputs[i], *session->fillInput(fmt::format("x{}", i)));
  OPKIT_TRY(session->run());
  for (size_t i = 0; i < node.model.outputs.size(); ++i) judge(i, session->outputs()[i]);
  return Status::ok();
}

/// Imports the node and compares its outputs on every backend.
inline void expectOutputs(Node& node, const std::vector<Tensor>& inputs, const std::vector<Expected>& expected) {
  const Status imported = node.import();
  ASSERT_TRUE(imported.isOk()) << imported.toString();
  ASSERT_EQ(node.model.outputs.size(), expected.size());
  for (const std::string& backend : backends()) {
    const Status run = runNetwork(node, backend, inputs, [&](size_t i, const Tensor& y) {
      expectTensor(y, expected[i], fmt::format("{} output {}", backend, i));
    });
    EXPECT_TRUE(run.isOk()) << run.toString();
  }
}
inline void expectOutput(Node& node, const std::vector<Tensor>& inputs, const Shape& shape,
                         const std::vector<double>& expected) {
  expectOutputs(node, inputs, {{shape, expected}});
}

/// Imports the node if it is not; its network cannot be planned or run with these inputs, on any backend.
inline void expectRefusedRun(Node& node, const std::vector<Tensor>& inputs) {
  if (node.model.outputs.empty()) {
    ASSERT_TRUE(node.import().isOk());
  }
  for (const std::string& backend : backends())
    EXPECT_FALSE(runNetwork(node, backend, inputs, [](size_t, const Tensor&) {}).isOk()) << backend;
}

/// The message of the refusal to import the node.
inline std::string refusalOf(Node& node) { return node.import().message(); }

}  // namespace opkit::ops::features
