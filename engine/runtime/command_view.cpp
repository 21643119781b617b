#include "engine/runtime/command_view.h"

#include "engine/op/internal_operators.h"

namespace opkit {
namespace {

/// Kernels keep packed copies of inputs that are declared constant. In low-memory mode, large constants that can be
/// read in place are not declared constant.
bool isWithheld(const TensorDesc& desc, const SessionConfig& config, const Backend& backend) {
  constexpr size_t kLargeBytes = size_t{64} << 10;
  return config.memory == MemoryHint::Low && backend.sharesHostMemory() && desc.sizeBytes() >= kLargeBytes;
}

}  // namespace

CommandView::CommandView(const EncodedCommand& command, const Model& model, const EncodedGraph& graph,
                         const SessionConfig& config, const Backend& backend, BackendIndex backendIndex,
                         const TensorHomes& homes)
    : def_(command.regions ? rasterCard() : *command.def),
      params_(command.params(model)),
      regions_(command.regions ? &*command.regions : nullptr),
      caps_(backend.caps()) {
  const auto stored = [&](TensorId tensor) {
    if (!tensor) return TensorDesc{};
    TensorDesc desc = graph.descs[tensor];
    desc.dtype = backend.storageDType(desc.dtype);
    return desc;
  };
  const size_t count = command.inputs.size();
  inputs_.reserve(count);
  outputs_.reserve(command.outputs.size());
  inputList_.reserve(count);
  contents_.reserve(count);
  constants_.reserve(count);
  layouts_.reserve(count);
  for (const TensorId tensor : command.inputs) inputs_.push_back(stored(tensor));
  for (const TensorId tensor : command.outputs) outputs_.push_back(stored(tensor));
  for (size_t i = 0; i < count; ++i) {
    const TensorId t = command.inputs[i];
    const bool known = t && graph.contents[t].has_value();
    const bool constant = t && !regions_ && graph.constant[t] && !isWithheld(graph.descs[t], config, backend);
    // A plan holds for one value of an input that shapes depend on.
    const Port* port = portOf(def_.inputs, i);
    const bool planned = known && port && port->contents;
    inputList_.push_back(t ? &inputs_[i] : nullptr);
    contents_.push_back(known ? &*graph.contents[t] : nullptr);
    constants_.push_back(constant || planned ? contents_.back() : nullptr);
    const bool isHome = t && homes.backend[t] == backendIndex;
    layouts_.push_back(isHome ? homes.layout[t] : Layout::NCHW);
  }
}

}  // namespace opkit
