// Model: a graph of operators over tensors, as importers build it, files store it and sessions run it.
//
// Plain data. Tensors are numbered; each is an input, a constant or the output of exactly one node. Nodes are
// in an order in which every input is made before it is read. validateModel checks all of that.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/index.h"
#include "engine/model/mapped_file.h"
#include "engine/op/params.h"
#include "engine/tensor/tensor.h"

namespace opkit {

class OpRegistry;

/// An absent one stands for an optional input that is not given and for an output that nothing uses.
using TensorId = Index<struct TensorTag>;
using NodeId = Index<struct NodeTag>;

/// Of a constant: it is the default of an input of the file. Copies in subgraphs have it too.
struct InputDefault {
  size_t position = 0;   // among all inputs of the file
  Shape shape = {};      // as declared; extents may be kDynamic
  bool isFixed = false;  // the import used the value, so that no other one can take its place
};

struct ModelTensor {
  std::string name;
  TensorDesc desc;                     // meaningful for inputs (extents may be kDynamic) and constants
  std::optional<Tensor> constant;      // host values
  Shape startShape = {};               // of an input: the initial shape of a session; if empty, open extents are 1
  std::optional<DType> declared = {};  // of an output: the type that it must have
  std::vector<std::string> extentNames = {};  // of an input or output: those of its extents; empty where there is none
  std::optional<InputDefault> defaultOf = {};
};

/// InvalidArgument if `made` has another type than the tensor must have.
Status checkDeclared(const ModelTensor& tensor, const TensorDesc& made);

struct ModelNode;

struct Model {
  std::string producer;
  IndexedVector<TensorId, ModelTensor> tensors;
  IndexedVector<NodeId, ModelNode> nodes;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::vector<std::pair<std::string, std::string>> metadata = {};  // keys and values, in the order of the file

  TensorId addTensor(std::string name, TensorDesc desc = {});
  TensorId addInput(std::string name, TensorDesc desc);
  TensorId addConstant(std::string name, Tensor value);
  /// Appends a node with `outputCount` fresh outputs named after it; returns them.
  std::vector<TensorId> addNode(std::string type, std::string name, std::vector<TensorId> inputs,
                                ParamBytes params = {}, size_t outputCount = 1);
  /// The tensor called `name`; absent if there is none.
  TensorId findTensor(std::string_view name) const;
};

/// A model inside a node of control flow. Its inputs are those that the operator defines, then one per capture.
struct Subgraph {
  std::string name;           // "then_branch", "body"
  Model model;                // input descriptions are not binding: values decide
  std::vector<int> captures;  // positions among the node's inputs of the values around it that the model reads
};

struct ModelNode {
  std::string name;
  std::string type;
  int version = 1;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  ParamBytes params;
  std::vector<Subgraph> subgraphs = {};  // of control flow
};

/// Corrupt when indices, order or uniqueness are broken; Unsupported names an operator the registry lacks;
/// parameters are verified against their schemas.
Status validateModel(const Model& model, const OpRegistry& registry);

/// Gives the input called `name` another value than its default. InvalidArgument for an unknown name, another dtype, a
/// shape that contradicts the declared one, and a default that the import used.
Status replaceDefault(Model& model, const std::string& name, const Tensor& value);

/// Orders nodes so that producers come first; Corrupt names a tensor on a cycle.
Status sortTopologically(Model& model);

/// Whether bytes begin as those of an .opk file do.
bool isOpk(std::span<const uint8_t> bytes);
/// Reads .opk bytes. Corrupt for anything that is not a well-formed model; never crashes on bad bytes.
Result<Model> readModel(std::span<const uint8_t> bytes);
/// The same, of a file; large constants stay in the file.
Result<Model> readModel(const std::shared_ptr<MappedFile>& file);
/// The .opk form of a model; Unsupported if it exceeds 2 GiB without the constants.
Result<std::vector<uint8_t>> writeModel(const Model& model);
/// Writes it to a file and returns the number of bytes; constants are not copied.
Result<size_t> writeModel(const Model& model, const std::string& path);

/// Whole-file helpers; errors name the path. writeFile replaces the file in one step or not at all.
Result<std::vector<uint8_t>> readFile(const std::string& path);
Status writeFile(const std::string& path, std::span<const uint8_t> bytes);
Status writeFile(const std::string& path, const std::vector<std::span<const uint8_t>>& parts);

}  // namespace opkit
