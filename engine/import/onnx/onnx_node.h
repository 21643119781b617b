// The importer's state while it walks a graph, and the OnnxNode that rules see.
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "engine/import/onnx/onnx_proto.h"
#include "engine/import/onnx/onnx_rules.h"

namespace opkit {

class ExternalData;
class OpRegistry;
struct OpDef;

/// Makes names of one base: "base_2", "base_3", ... Many may share it.
class NumberedNames {
 public:
  std::string next(const std::string& base) {
    return fmt::format("{}_{}", base, ++numbers_.try_emplace(base, 1).first->second);
  }

 private:
  std::unordered_map<std::string, size_t> numbers_;
};

/// The model under construction and the mapping of its ONNX names. A subgraph's context refers to the surrounding one.
class ImportContext {
 public:
  /// A value of the surrounding graph that this one reads: it is an input here.
  struct Capture {
    TensorId inner;
    TensorId outer;
  };

  ImportContext(const OpRegistry& ops, ExternalData& external, ImportContext* outer = nullptr)
      : registry(&ops), externalData(&external), outer_(outer) {}

  /// Declares an ONNX value; false when the name is taken.
  bool declare(const std::string& name, TensorId index) { return byName_.emplace(name, index).second; }
  /// An ONNX value; absent if nothing defines it.
  TensorId find(const std::string& name) const;
  /// Like find, but also searches the surrounding graphs: their constants are shared, other values are captured.
  TensorId resolve(const std::string& name);
  /// Whether this graph or one around it defines the value.
  bool knows(const std::string& name) const { return find(name) || (outer_ && outer_->knows(name)); }
  const std::vector<Capture>& captures() const { return captures_; }
  /// `base`, or `base` with a number that makes it unique in the model; the name is reserved.
  std::string uniqueName(const std::string& base);
  /// The same for a node, in all graphs of the file: ONNX lets nodes share a name.
  std::string uniqueNodeName(const std::string& base);
  /// Marks a declared tensor as a constant.
  void setConstant(TensorId index, Tensor value);
  /// Null when the tensor is not a constant. The pointer stays valid while the import runs.
  const Tensor* constant(TensorId index) const;
  /// The same for a rule that uses the value: if it is the default of an input, no other one can take its place.
  const Tensor* useConstant(TensorId index);

  Model model;
  const OpRegistry* registry;
  ExternalData* externalData;

 private:
  ImportContext* outer_;
  std::vector<Capture> captures_;
  std::unordered_map<std::string, TensorId> byName_;
  NumberedNames numbers_;
  std::unordered_set<std::string> nodeNames_;  // of the outermost context, as the next
  NumberedNames nodeNumbers_;
  std::map<TensorId, Tensor> constants_;  // a map: rules keep pointers while constants are added
};

struct ImportedSubgraph {
  Model model;
  std::vector<TensorId> captured;  // per last input of the model: the tensor of the graph around it
};
using ImportSubgraph = std::function<Result<ImportedSubgraph>(const onnx::GraphProto&, const std::string& name)>;

/// One ONNX node as its rule sees it.
class ImportNode final : public OnnxNode {
 public:
  ImportNode(const onnx::NodeProto& proto, std::string opType, int opset, ImportContext& context,
             ImportSubgraph importSubgraph);

  const std::string& opType() const override { return opType_; }
  int opset() const override { return opset_; }
  const std::string& name() const override { return name_; }

  bool hasAttribute(const std::string& name) const override { return attribute(name) != nullptr; }
  int64_t intAttribute(const std::string& name, int64_t fallback) const override;
  float floatAttribute(const std::string& name, float fallback) const override;
  std::string stringAttribute(const std::string& name, const std::string& fallback) const override;
  std::vector<int64_t> intsAttribute(const std::string& name) const override;
  std::vector<float> floatsAttribute(const std::string& name) const override;
  std::vector<std::string> stringsAttribute(const std::string& name) const override;
  Result<Tensor> tensorAttribute(const std::string& name) const override;

  size_t inputCount() const override { return inputs_.size(); }
  size_t outputCount() const override { return outputs_.size(); }
  bool hasOutput(size_t index) const override { return index < outputs_.size() && outputs_[index]; }
  TensorId input(size_t index) const override { return index < inputs_.size() ? inputs_[index] : TensorId(); }
  bool isObject(size_t index) const override;
  Result<DType> declaredType(size_t index) const override;
  std::vector<TensorId> inputs() const override { return inputs_; }
  const Tensor* constantInput(size_t index) const override { return context_.useConstant(input(index)); }

  using OnnxNode::addConstant;
  TensorId addConstant(const std::string& suffix, Tensor value) override;
  Status emit(const std::string& type, std::vector<TensorId> inputs, ParamBytes params) override;
  Status emitOutput(size_t index, const std::string& type, std::vector<TensorId> inputs, ParamBytes params) override;
  Status emitControl(const std::string& type, std::vector<TensorId> inputs, const std::vector<std::string>& graphs,
                     ParamBytes params) override;
  Result<std::vector<TensorId>> inlineGraph(const std::string& attribute, const std::vector<TensorId>& inputs) override;
  Status emitConstant(Tensor value) override;
  std::vector<TensorId> emitIntermediates(const std::string& type, std::vector<TensorId> inputs, size_t outputs,
                                          ParamBytes params) override;

  /// After the rule: its verdict, an attribute of the wrong type, or nothing emitted.
  Status finish(const Status& ruleStatus) const;

 private:
  const onnx::AttributeProto* attribute(const std::string& name) const;
  /// The attribute if it has the type; null (and an error for finish()) if it has another.
  const onnx::AttributeProto* attributeOf(const std::string& name, int type) const;
  void noteObjects(const OpDef& def);
  void addNode(const std::string& type, std::vector<TensorId> inputs, std::vector<TensorId> outputs, ParamBytes params);

  const onnx::NodeProto& proto_;
  std::string opType_;
  int opset_;
  std::string name_;
  ImportContext& context_;
  ImportSubgraph importSubgraph_;
  std::vector<TensorId> inputs_;
  std::vector<TensorId> outputs_;
  bool emitted_ = false;
  bool emittedControl_ = false;
  mutable Status attributeError_;
};

/// The declared type of an attribute, or the one its fields imply in files older than the declaration.
int attributeTypeOf(const onnx::AttributeProto& attribute);

}  // namespace opkit
