// OnnxRules: how ONNX nodes become OpKit nodes. Each operator brings its rules in <op>_onnx.cpp.
//
// Operator folders see ONNX through OnnxNode alone; protobuf stays inside engine/import/onnx.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/import/onnx/onnx_form.h"
#include "engine/model/model.h"

namespace opkit {

/// One ONNX node being imported; the rule emits its result here.
class OnnxNode {
 public:
  virtual ~OnnxNode() = default;

  virtual const std::string& opType() const = 0;
  virtual int opset() const = 0;  // version of the node's domain
  virtual const std::string& name() const = 0;

  virtual bool hasAttribute(const std::string& name) const = 0;
  virtual int64_t intAttribute(const std::string& name, int64_t fallback) const = 0;
  virtual float floatAttribute(const std::string& name, float fallback) const = 0;
  virtual std::string stringAttribute(const std::string& name, const std::string& fallback) const = 0;
  virtual std::vector<int64_t> intsAttribute(const std::string& name) const = 0;
  virtual std::vector<float> floatsAttribute(const std::string& name) const = 0;
  virtual std::vector<std::string> stringsAttribute(const std::string& name) const = 0;
  /// Unsupported if the attribute is absent or of a type that OpKit tensors cannot hold.
  virtual Result<Tensor> tensorAttribute(const std::string& name) const = 0;

  virtual size_t inputCount() const = 0;
  virtual size_t outputCount() const = 0;
  /// Whether the node has this output; optional ones before the last may be absent.
  virtual bool hasOutput(size_t index) const { return index < outputCount(); }
  /// A tensor of the model; absent when the optional input is, or beyond the end.
  virtual TensorId input(size_t index) const = 0;
  /// Whether the input is a sequence, an optional value or a tensor of strings, as far as the file says.
  virtual bool isObject([[maybe_unused]] size_t index) const { return false; }
  /// The dtype of an input that the file declares: a model input or a constant. Unsupported for others.
  virtual Result<DType> declaredType(size_t index) const {
    return Status::unsupported("{}: the type of input {} is not declared", opType(), index);
  }
  /// The whole list, absent ones included.
  virtual std::vector<TensorId> inputs() const = 0;

  /// Host value of an input that is a constant (initializer, Constant node, earlier emitConstant); else null.
  virtual const Tensor* constantInput(size_t index) const = 0;

  /// Adds a constant to the model, for attributes that are inputs of the OpKit operator.
  virtual TensorId addConstant(const std::string& suffix, Tensor value) = 0;
  TensorId addConstant(const std::string& suffix, const std::vector<int64_t>& values);  // i64[n]
  TensorId addConstant(const std::string& suffix, float scalar);                        // f32[]

  /// Emits the node: its outputs are the ONNX node's outputs.
  virtual Status emit(const std::string& type, std::vector<TensorId> inputs, ParamBytes params = {}) = 0;
  /// Emits a node that makes output `index` of the ONNX node alone; nothing if the model does not use that output. A
  /// rule calls this for every output of its operator, in place of emit.
  virtual Status emitOutput(size_t index, const std::string& type, std::vector<TensorId> inputs,
                            ParamBytes params = {}) = 0;
  /// Emits a node of control flow. `graphs` names the attributes that hold its subgraphs, in the order of the card; the
  /// values around it that they read become further inputs of the node.
  virtual Status emitControl(const std::string& type, std::vector<TensorId> inputs,
                             const std::vector<std::string>& graphs, ParamBytes params = {}) = 0;
  /// Emits the nodes of the subgraph in an attribute, with `inputs` in place of its own, into the graph of this node;
  /// returns its outputs. For operators that call a subgraph once.
  virtual Result<std::vector<TensorId>> inlineGraph(const std::string& attribute,
                                                    const std::vector<TensorId>& inputs) = 0;
  /// Emits nothing: the ONNX node's only output is this constant from here on.
  virtual Status emitConstant(Tensor value) = 0;
  /// Emits a node whose single output is intermediate; returns it.
  TensorId emitIntermediate(const std::string& type, std::vector<TensorId> inputs, ParamBytes params = {});
  /// The same for a node of several outputs.
  virtual std::vector<TensorId> emitIntermediates(const std::string& type, std::vector<TensorId> inputs, size_t outputs,
                                                  ParamBytes params = {}) = 0;
};

/// A string attribute as one of the choices, of which the first is the fallback. Unsupported names all choices.
template <class Enum>
Result<Enum> choiceAttribute(const OnnxNode& node, const std::string& name,
                             const std::vector<std::pair<const char*, Enum>>& choices) {
  const std::string given = node.stringAttribute(name, choices[0].first);
  std::string known;
  for (const auto& [text, value] : choices) {
    if (given == text) return value;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  return Status::unsupported("{}: {} must be one of {}, got '{}'", node.opType(), name, known, given);
}

/// An integer attribute without a default; InvalidArgument if it is missing.
Result<int64_t> requiredInt(const OnnxNode& node, const std::string& name);
/// An integer attribute as the element type that it numbers in ONNX.
Result<DType> dtypeAttribute(const OnnxNode& node, const std::string& name, int64_t fallback = 0);
/// Unsupported if the integer attribute has another value than `only`, its default.
Status requireOnly(const OnnxNode& node, const std::string& name, int64_t only);

/// Reads a node of ONNX and emits nodes of OpKit; where these are one, `inverse` writes that as the node of ONNX.
struct OnnxRule {
  std::function<Status(OnnxNode&)> read;
  OnnxInverse inverse = {};  // without a function if none is known

  OnnxRule() = default;
  template <class Read>
  requires std::is_invocable_r_v<Status, Read, OnnxNode&> OnnxRule(Read reads, OnnxInverse writes = {})
      : read(std::move(reads)), inverse(std::move(writes)) {}

  Status operator()(OnnxNode& node) const { return read(node); }
  explicit operator bool() const { return read != nullptr; }
};

constexpr int kAnyOpset = 1 << 20;

/// An attribute that a rule reads, and the opsets whose operator has it: a node of another opset may not have it.
struct OnnxAttribute {
  OnnxAttribute(const char* attribute, int first = 1, int last = kAnyOpset)
      : name(attribute), firstOpset(first), lastOpset(last) {}
  OnnxAttribute(std::string attribute) : name(std::move(attribute)) {}

  std::string name;
  int firstOpset = 1;
  int lastOpset = kAnyOpset;
  bool isRequired = false;
};

/// An attribute without which a node is refused.
OnnxAttribute required(const char* name, int firstOpset = 1, int lastOpset = kAnyOpset);

/// A rule with the attributes it reads; onnx_fields.h makes them.
struct OnnxDeclaration {
  std::vector<OnnxAttribute> attributes;
  OnnxRule rule;
};

class OnnxRules {
 public:
  struct Entry {
    int firstOpset;
    int lastOpset;
    OnnxRule rule;
    std::vector<OnnxAttribute> attributes;  // the attributes the rule reads; any other is refused by name

    /// The attribute as a node of this opset has it; null if it has none.
    const OnnxAttribute* attribute(const std::string& name, int opset) const;
  };

  /// `type` is the ONNX op type; operators outside the default domain are written "domain::Type".
  /// `attributes` lists every attribute the rule handles; the importer reports all others as Unsupported.
  void add(const std::string& type, std::vector<OnnxAttribute> attributes, OnnxRule rule, int firstOpset = 1,
           int lastOpset = kAnyOpset);
  void add(const std::string& type, OnnxDeclaration declaration, int firstOpset = 1, int lastOpset = kAnyOpset) {
    add(type, std::move(declaration.attributes), std::move(declaration.rule), firstOpset, lastOpset);
  }
  /// For readers of docs/onnx.md. `madeOf`: the operators that a node of this name becomes, without those that only
  /// reshape, convert or compute extents; empty for the operator of the same name. `limits`: the part of the standard
  /// that the rule refuses. REQUIRES rules of this name.
  void note(const std::string& type, std::vector<std::string> madeOf, std::string limits = {});

  /// All rules of a name.
  struct Name {
    std::vector<Entry> entries;
    std::string folder;               // of ops/; empty for rules of plugins
    std::vector<std::string> madeOf;  // see note()
    std::string limits;
  };
  /// The names whose rules make nodes of this type of OpKit, those of ONNX itself first.
  std::vector<std::string> namesFor(const std::string& type) const;
  /// `node` as a node of this name and opset. Unsupported says why it has no such form. The caller reads the form back:
  /// a rule may make another node of it, where ONNX lacks a parameter.
  Result<OnnxForm> formOf(const OpNode& node, const std::string& name, int opset) const;
  /// The entry for an opset; null when there is none.
  const Entry* find(const std::string& type, int opset) const;
  const std::map<std::string, Name>& names() const { return names_; }
  /// Names added until the next call carry this folder; used by the generated list.
  void setFolder(std::string folder) { folder_ = std::move(folder); }

 private:
  std::map<std::string, Name> names_;
  std::string folder_;
};

/// A rule that renames the node and passes inputs through: for operators without parameters.
OnnxRule passThrough(std::string type);

}  // namespace opkit
