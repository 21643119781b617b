#include "harness/testing/planted_kernels.h"

#include <nlohmann/json.hpp>

#include "engine/backend/backend.h"

namespace opkit::harness {
namespace {

std::vector<std::string> attributesOf(const OpDef& def, std::span<const uint8_t> paramBytes) {
  std::vector<std::string> names;
  const auto stored = nlohmann::json::parse(paramsToJson(def.params, paramBytes));
  for (const auto& [name, value] : stored.items()) names.push_back(name);
  return names;
}

PlantedNode nodeOf(TensorList inputs, TensorList outputs, const std::vector<std::string>& attributes) {
  PlantedNode node{{}, outputs[0]->desc, attributes};
  for (const Tensor* input : inputs)
    if (input) node.inputs.push_back(input->desc);
  return node;
}

/// A wrong value that is within no bound, and no NaN.
template <class T>
T spoiled(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return Half{static_cast<uint16_t>(value.bits ^ 0x4400u)};
  else if constexpr (std::is_floating_point_v<T>)
    return std::isfinite(value) ? 2 * value + 1 : T{1};
  else
    return static_cast<T>(value ^ 1);
}

void spoil(const Tensor& tensor, const Spoiled& where) {
  if (!where.any() || isCoded(tensor.desc.dtype)) return;
  visitDType(tensor.desc.dtype, [&](auto tag) {
    const auto values = tensor.data<decltype(tag)>();
    for (size_t i = 0; i < values.size(); ++i)
      if (static_cast<int64_t>(i) / where.inner % where.extent >= where.from) values[i] = spoiled(values[i]);
  });
}

class PlantedCpu final : public Execution {
 public:
  PlantedCpu(std::unique_ptr<Execution> inner, PlantedFault fault, std::vector<std::string> attributes)
      : inner_(std::move(inner)), fault_(std::move(fault)), attributes_(std::move(attributes)) {}

  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    return inner_->scratchBytes(inputs, outputs);
  }
  Status onResize(TensorList inputs, TensorList outputs) override {
    inner_->setScratch(scratch());
    copies_.clear();
    read_.assign(inputs.begin(), inputs.end());
    for (const Tensor* input : inputs) {
      if (!fault_.degrade || !input) continue;
      OPKIT_ASSIGN(Tensor copy, Tensor::onHost(input->desc));
      copies_.push_back(std::make_unique<Tensor>(std::move(copy)));
    }
    spoiled_ = fault_.spoil ? fault_.spoil(nodeOf(inputs, outputs, attributes_)) : Spoiled{};
    return inner_->onResize(inputs, outputs);
  }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    read_.assign(inputs.begin(), inputs.end());
    size_t next = 0;
    for (const Tensor*& input : read_) {
      if (!fault_.degrade || !input) continue;
      const Tensor& copy = *copies_[next++];
      std::ranges::copy(input->bytes(), copy.bytes().begin());
      fault_.degrade(copy);
      input = &copy;
    }
    OPKIT_TRY(inner_->onExecute(read_, outputs));
    spoil(*outputs[0], spoiled_);
    return Status::ok();
  }

 private:
  std::unique_ptr<Execution> inner_;
  PlantedFault fault_;
  std::vector<std::string> attributes_;
  Spoiled spoiled_;
  std::vector<std::unique_ptr<Tensor>> copies_;
  std::vector<const Tensor*> read_;
};

Creator brokenCopy(const Creator& creator, const Planted& planted) {
  Creator broken = creator;
  broken.kernel = "planted/" + creator.kernel;  // of the same provider: its declared departures stay
  broken.create = [inner = creator.create, planted](const CreateArgs& args,
                                                    Backend& backend) -> Result<std::unique_ptr<Execution>> {
    OPKIT_ASSIGN(std::unique_ptr<Execution> made, inner(args, backend));
    const std::vector<std::string> attributes = attributesOf(args.def, args.paramBytes);
#ifdef OPKIT_HAS_VULKAN
    if (planted.backend == "vulkan")
      return spoilOnVulkan(std::move(made), backend, {{}, {}, attributes}, planted.fault.spoil);
#endif
    return std::unique_ptr<Execution>(std::make_unique<PlantedCpu>(std::move(made), planted.fault, attributes));
  };
  return broken;
}

/// A lowering that loses its last region at the place.
void plantLowering(OpRegistry& registry, const OpDef& def, const PlantedFault& fault) {
  OpDef broken = def;
  broken.lower = [right = def.lower, fault, def](const ShapeArgs& args, std::span<const TensorDesc> outputs) {
    Result<std::vector<RegionList>> lists = right(args, outputs);
    PlantedNode node{{}, outputs[0], attributesOf(def, args.paramBytes)};
    for (const TensorDesc* input : args.inputs)
      if (input) node.inputs.push_back(*input);
    if (lists && fault.spoil(node).any() && !lists->front().regions.empty()) lists->front().regions.pop_back();
    return lists;
  };
  registry.replace(std::move(broken));
}

}  // namespace

Status plant(OpRegistry& registry, const Planted& planted) {
  const OpDef* def = registry.find(planted.op);
  if (!def) return Status::invalidArgument("unknown operator '{}'", planted.op);
  if (def->lower) {
    if (!planted.fault.spoil) return Status::unsupported("{}: only results of a lowering can be spoiled", planted.op);
    plantLowering(registry, OpDef(*def), planted.fault);
    return Status::ok();
  }
  const auto table = registry.creators(planted.backend, planted.op);
  const std::vector<Creator> creators(table.begin(), table.end());
  size_t added = 0;
  for (size_t i = creators.size(); i-- > 0;) {
    if (creators[i].layout != Layout::NCHW) continue;
    Creator broken = brokenCopy(creators[i], planted);
    if (planted.backend == "vulkan") {
      if (!broken.dtypes.contains(DType::Float32)) continue;
      broken.dtypes = DTypeSet(DType::Float32);
    }
    registry.addFirstCreator(planted.backend, planted.op, std::move(broken));
    ++added;
  }
  return added ? Status::ok() : Status::unsupported("{} has no kernel of its own on {}", planted.op, planted.backend);
}

}  // namespace opkit::harness
