#include "harness/zoo/cut_onnx.h"

#include <set>

#include "engine/import/onnx/onnx_proto.h"
#include "engine/import/onnx/onnx_tensor.h"

namespace opkit {
namespace {

void declareInput(onnx::GraphProto& graph, const CutInput& input) {
  onnx::ValueInfoProto& value = *graph.add_input();
  value.set_name(input.name);
  onnx::TypeProto::Tensor& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnxNumberOf(input.desc.dtype));
  for (const int64_t extent : input.desc.shape) type.mutable_shape()->add_dim()->set_dim_value(extent);
}

}  // namespace

Result<std::vector<uint8_t>> cutOnnx(std::span<const uint8_t> bytes, const std::vector<CutInput>& inputs,
                                     const std::vector<std::string>& outputs) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return Status::corrupt("not an ONNX model");
  const onnx::GraphProto whole = model.graph();
  std::set<std::string> wanted(outputs.begin(), outputs.end()), given, constants;
  for (const CutInput& input : inputs) given.insert(input.name);
  for (const onnx::TensorProto& initializer : whole.initializer()) constants.insert(initializer.name());

  std::vector<int> nodes;  // from last to first: producers precede consumers
  for (int i = whole.node_size(); i-- > 0;) {
    const onnx::NodeProto& node = whole.node(i);
    bool makes = false;
    for (const std::string& name : node.output()) makes = makes || (wanted.contains(name) && !given.contains(name));
    if (!makes) continue;
    nodes.push_back(i);
    for (const std::string& name : node.output()) wanted.erase(name);
    for (const std::string& name : node.input())
      if (!name.empty()) wanted.insert(name);
  }
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.Clear();
  graph.set_name(whole.name() + "_part");
  for (auto i = nodes.rbegin(); i != nodes.rend(); ++i) *graph.add_node() = whole.node(*i);
  for (const onnx::TensorProto& initializer : whole.initializer())
    if (wanted.contains(initializer.name()) && !given.contains(initializer.name()))
      *graph.add_initializer() = initializer;
  for (const CutInput& input : inputs) declareInput(graph, input);
  for (const std::string& name : outputs) graph.add_output()->set_name(name);
  for (const std::string& name : wanted)
    if (!given.contains(name) && !constants.contains(name))
      return Status::invalidArgument("'{}' is neither made by the part nor given to it", name);
  if (nodes.empty()) return Status::invalidArgument("no node makes the outputs");
  std::vector<uint8_t> result(model.ByteSizeLong());
  model.SerializeToArray(result.data(), static_cast<int>(result.size()));
  return result;
}

}  // namespace opkit
