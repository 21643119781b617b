#include "engine/model/model_structure.h"

#include <unordered_set>

#include "engine/base/nesting.h"
#include "engine/tensor/lazy_buffer.h"

namespace opkit {
namespace {

constexpr size_t kMaxRank = 64;  // far above any operator's; keeps a hostile file from costing time

enum class Role { Undefined, Input, Constant, Made };

class StructureCheck {
 public:
  StructureCheck(const Model& model, size_t depth)
      : model_(model), depth_(depth), roles_(model.tensors.size(), Role::Undefined) {}

  Status run() {
    OPKIT_TRY(checkNames());
    OPKIT_TRY(checkConstants());
    OPKIT_TRY(checkInputs());
    for (const NodeId n : model_.nodes.ids()) OPKIT_TRY(checkNode(model_.nodes[n], n));
    return checkOutputs();
  }

 private:
  bool inRange(TensorId index) const { return model_.tensors.contains(index); }
  const std::string& nameOfTensor(TensorId index) const { return model_.tensors[index].name; }
  Role& role(TensorId index) { return roles_[index]; }

  Status checkNames() const {
    std::unordered_set<std::string_view> names;
    for (const ModelTensor& tensor : model_.tensors) {
      if (tensor.name.empty()) return Status::corrupt("model: every tensor must have a name, found an empty one");
      if (!names.insert(tensor.name).second)
        return Status::corrupt("model: tensor names must be unique, found '{}' twice", tensor.name);
    }
    return Status::ok();
  }

  Status checkConstants() {
    for (const TensorId t : model_.tensors.ids()) {
      const ModelTensor& tensor = model_.tensors[t];
      if (!tensor.constant && tensor.defaultOf)
        return Status::corrupt("model: '{}' is the default of an input and not a constant", tensor.name);
      if (!tensor.constant) continue;
      roles_[t] = Role::Constant;
      OPKIT_TRY(checkDesc(tensor, false));
      const Tensor& value = *tensor.constant;
      if (value.desc != tensor.desc)
        return Status::corrupt("model: constant '{}' must be {}, found {}", tensor.name, tensor.desc.toString(),
                               value.desc.toString());
      if (value.buffer && isObject(value.desc.dtype)) continue;
      if (!value.buffer || !asStored(value).buffer->hostData() || value.offsetBytes > value.buffer->sizeBytes() ||
          value.sizeBytes() > value.buffer->sizeBytes() - value.offsetBytes)
        return Status::corrupt("model: constant '{}' has fewer bytes than {} needs", tensor.name,
                               tensor.desc.toString());
    }
    return Status::ok();
  }

  /// Extents may be kDynamic where `dynamic`.
  static Status checkDesc(const ModelTensor& tensor, bool dynamic) {
    if (!isValidDType(static_cast<int>(tensor.desc.dtype)))
      return Status::corrupt("model: tensor '{}' has dtype number {}, which does not exist", tensor.name,
                             static_cast<int>(tensor.desc.dtype));
    if (tensor.desc.shape.size() > kMaxRank)
      return Status::corrupt("model: tensor '{}' must have at most {} dimensions, found {}", tensor.name, kMaxRank,
                             tensor.desc.shape.size());
    Shape known = tensor.desc.shape;
    if (dynamic) std::replace(known.begin(), known.end(), kDynamic, int64_t{1});
    if (const Status status = checkShape(known); !status.isOk())
      return Status::corrupt("model: tensor '{}': {}", tensor.name, status.message());
    return Status::ok();
  }

  Status checkInputs() {
    for (const TensorId index : model_.inputs) {
      if (!inRange(index)) return outOfRange("an input", index);
      if (role(index) != Role::Undefined)
        return Status::corrupt("model: input '{}' must be listed once and not be a constant", nameOfTensor(index));
      role(index) = Role::Input;
      OPKIT_TRY(checkDesc(model_.tensors[index], true));
    }
    return Status::ok();
  }

  Status checkNode(const ModelNode& node, NodeId position) {
    if (node.type.empty()) return Status::corrupt("model: node {} '{}' has no operator type", position, node.name);
    for (const TensorId index : node.inputs) {
      if (!index) continue;
      if (!inRange(index)) return outOfRange(node.type + " '" + node.name + "'", index);
      if (role(index) == Role::Undefined)
        return Status::corrupt("model: {} '{}' reads tensor '{}' before anything makes it", node.type, node.name,
                               nameOfTensor(index));
    }
    for (const TensorId index : node.outputs) {
      if (!index) continue;
      if (!inRange(index)) return outOfRange(node.type + " '" + node.name + "'", index);
      if (role(index) != Role::Undefined)
        return Status::corrupt("model: {} '{}' makes tensor '{}', which something else already defines", node.type,
                               node.name, nameOfTensor(index));
      role(index) = Role::Made;
    }
    for (const Subgraph& subgraph : node.subgraphs) {
      const Status status = checkSubgraph(node, subgraph);
      if (status.code() == StatusCode::Unsupported) return status;  // too deep: without a list of the nodes above
      OPKIT_TRY(status.withContext(fmt::format("'{}' of '{}'", subgraph.name, node.name)));
    }
    return Status::ok();
  }

  Status checkSubgraph(const ModelNode& node, const Subgraph& subgraph) const {
    if (depth_ == kMaxNesting)
      return Status::unsupported("model: subgraphs may be nested {} deep, found a deeper one", kMaxNesting);
    if (subgraph.captures.size() > subgraph.model.inputs.size())
      return Status::corrupt("model: it captures {} values and has {} inputs", subgraph.captures.size(),
                             subgraph.model.inputs.size());
    for (int capture : subgraph.captures)
      if (capture < 0 || static_cast<size_t>(capture) >= node.inputs.size() ||
          !node.inputs[static_cast<size_t>(capture)])
        return Status::corrupt("model: it captures input {} of a node with {} inputs", capture, node.inputs.size());
    return StructureCheck(subgraph.model, depth_ + 1).run();
  }

  Status checkOutputs() {
    if (model_.outputs.empty()) return Status::corrupt("model: expected at least one output, found none");
    for (const TensorId index : model_.outputs) {
      if (!inRange(index)) return outOfRange("an output", index);
      if (role(index) == Role::Undefined)
        return Status::corrupt("model: nothing makes output '{}'", nameOfTensor(index));
    }
    return Status::ok();
  }

  Status outOfRange(const std::string& who, TensorId index) const {
    return Status::corrupt("model: {} refers to tensor {}, expected an index below {}", who, index,
                           model_.tensors.size());
  }

  const Model& model_;
  size_t depth_;  // below the outermost model
  IndexedVector<TensorId, Role> roles_;
};

}  // namespace

Status checkStructure(const Model& model) { return StructureCheck(model, 0).run(); }

}  // namespace opkit
