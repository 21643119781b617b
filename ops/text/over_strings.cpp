#include "ops/text/over_strings.h"

#include <algorithm>
#include <span>

namespace opkit::ops::text {
namespace {

/// The node with numbers in place of strings.
class NodeOfNumbers final : public OnnxNode {
 public:
  NodeOfNumbers(OnnxNode& node, StringPorts ports) : node_(node), ports_(ports), inputs_(node.inputs()) {
    const auto strings = std::span(inputs_).subspan(ports.first, endOf(node, ports) - ports.first);
    const std::vector<TensorId> outputs =
        node.emitIntermediates("EncodeStrings", {strings.begin(), strings.end()}, strings.size() + 1);
    dictionary_ = outputs[0];
    std::copy(outputs.begin() + 1, outputs.end(), strings.begin());
  }

  static size_t endOf(const OnnxNode& node, StringPorts ports) {
    return ports.last < node.inputCount() ? ports.last + 1 : node.inputCount();
  }

  const std::string& opType() const override { return node_.opType(); }
  int opset() const override { return node_.opset(); }
  const std::string& name() const override { return node_.name(); }

  bool hasAttribute(const std::string& name) const override { return node_.hasAttribute(name); }
  int64_t intAttribute(const std::string& name, int64_t fallback) const override {
    return node_.intAttribute(name, fallback);
  }
  float floatAttribute(const std::string& name, float fallback) const override {
    return node_.floatAttribute(name, fallback);
  }
  std::string stringAttribute(const std::string& name, const std::string& fallback) const override {
    return node_.stringAttribute(name, fallback);
  }
  std::vector<int64_t> intsAttribute(const std::string& name) const override { return node_.intsAttribute(name); }
  std::vector<float> floatsAttribute(const std::string& name) const override { return node_.floatsAttribute(name); }
  std::vector<std::string> stringsAttribute(const std::string& name) const override {
    return node_.stringsAttribute(name);
  }
  Result<Tensor> tensorAttribute(const std::string& name) const override { return node_.tensorAttribute(name); }

  size_t inputCount() const override { return inputs_.size(); }
  size_t outputCount() const override { return node_.outputCount(); }
  bool hasOutput(size_t index) const override { return node_.hasOutput(index); }
  TensorId input(size_t index) const override { return index < inputs_.size() ? inputs_[index] : TensorId(); }
  std::vector<TensorId> inputs() const override { return inputs_; }
  const Tensor* constantInput(size_t index) const override {
    return index >= ports_.first && index <= ports_.last ? nullptr : node_.constantInput(index);
  }

  using OnnxNode::addConstant;
  TensorId addConstant(const std::string& suffix, Tensor value) override {
    return node_.addConstant(suffix, std::move(value));
  }
  std::vector<TensorId> emitIntermediates(const std::string& type, std::vector<TensorId> inputs, size_t outputs,
                                          ParamBytes params) override {
    return node_.emitIntermediates(type, std::move(inputs), outputs, std::move(params));
  }
  Status emit(const std::string& type, std::vector<TensorId> inputs, ParamBytes params) override {
    if (ports_.made == Made::Numbers) return node_.emit(type, std::move(inputs), std::move(params));
    OPKIT_CHECK(ports_.made == Made::Strings);
    const std::vector<TensorId> numbers = emitIntermediates(type, std::move(inputs), outputCount(), std::move(params));
    for (size_t i = 0; i < numbers.size(); ++i) OPKIT_TRY(decode(i, numbers[i]));
    return Status::ok();
  }
  Status emitOutput(size_t index, const std::string& type, std::vector<TensorId> inputs, ParamBytes params) override {
    if (ports_.made == Made::Numbers || (ports_.made == Made::FirstStrings && index > 0))
      return node_.emitOutput(index, type, std::move(inputs), std::move(params));
    if (!hasOutput(index)) return Status::ok();
    return decode(index, emitIntermediates(type, std::move(inputs), 1, std::move(params))[0]);
  }

  Status emitControl(const std::string&, std::vector<TensorId>, const std::vector<std::string>&, ParamBytes) override {
    return refusal();
  }
  Result<std::vector<TensorId>> inlineGraph(const std::string&, const std::vector<TensorId>&) override {
    return refusal();
  }
  Status emitConstant(Tensor) override { return refusal(); }

 private:
  Status decode(size_t index, TensorId numbers) {
    return node_.emitOutput(index, "DecodeStrings", {numbers, dictionary_});
  }
  Status refusal() const { return Status::unsupported("{} takes no strings", opType()); }

  OnnxNode& node_;
  StringPorts ports_;
  std::vector<TensorId> inputs_;
  TensorId dictionary_;
};

}  // namespace

OnnxRule overStrings(OnnxRule rule, StringPorts ports) {
  OnnxInverse inverse = rule.inverse;
  const auto read = [rule = std::move(rule), ports](OnnxNode& node) -> Status {
    for (size_t i = ports.first; i < NodeOfNumbers::endOf(node, ports); ++i) {
      if (!node.isObject(i)) continue;
      NodeOfNumbers numbers(node, ports);
      return rule(numbers);
    }
    return rule(node);
  };
  return {read, std::move(inverse)};
}

}  // namespace opkit::ops::text
