#include "engine/plugin/kernels.h"

#include <map>

#include "engine/backend/host/host_execution.h"
#include "engine/backend/keeps_outputs.h"
#include "engine/op/op_registry.h"
#include "engine/op/takes_kernels.h"
#include "engine/plugin/call.h"
#include "engine/plugin/encoder.h"

namespace opkit::plugin {
namespace {

class PluginExecution final : public HostExecution, public KeepsOutputs {
 public:
  static Result<std::unique_ptr<Execution>> create(const std::string& plugin, const KernelSpec& kernel, void* user,
                                                   const AttributeReader* reader, const CreateArgs& args,
                                                   Backend& backend) {
    std::unique_ptr<PluginExecution> execution(
        new PluginExecution(plugin, kernel.functions, user, reader, args, backend));
    if (kernel.functions.create)
      OPKIT_TRY(execution->call_.invoke(
          "create", [&] { return kernel.functions.create(&execution->call_, user, &execution->state_); }));
    return std::unique_ptr<Execution>(std::move(execution));
  }
  ~PluginExecution() override {
    if (state_ && kernel_.destroy)
      static_cast<void>(call_.invoke("destroy", [&] { return kernel_.destroy(user_, state_), OPKIT_OK; }));
  }

  Status onResize(TensorList inputs, TensorList outputs) override {
    call_.setTensors(inputs, outputs);
    if (!kernel_.resize) return Status::ok();
    return call_.invoke("resize", [&] { return kernel_.resize(&call_, user_, state_); });
  }
  /// opkit_plugin.h says so, of kernels with a `resize`.
  bool keepsOutputs() const override { return kernel_.resize != nullptr; }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    call_.setTensors(inputs, outputs);
    return call_.invoke("execute", [&] { return kernel_.execute(&call_, user_, state_); });
  }

 private:
  PluginExecution(const std::string& plugin, const opkit_kernel& kernel, void* user, const AttributeReader* reader,
                  const CreateArgs& args, Backend& backend)
      : HostExecution(backend), kernel_(kernel), user_(user), call_(plugin, args.def, reader, args.paramBytes) {
    call_.setInputs(args.inputs, args.constants);
    call_.setOutputs(args.outputs);
  }

  opkit_kernel kernel_;
  void* user_;
  opkit_call call_;
  void* state_ = nullptr;
};

Result<std::vector<TensorDesc>> inferWith(const std::string& plugin, const OperatorSpec& op, const OpDef& def,
                                          const ShapeArgs& args) {
  opkit_call call(plugin, def, op.schema.get(), args.paramBytes);
  call.setInputs(args.inputs, args.contents);
  call.setOutputCount(args.outputCount);
  OPKIT_TRY(call.invoke("infer", [&] { return op.functions.infer(&call, op.functions.user); }));
  return call.inferred();
}

Status runOracle(const std::string& plugin, const OperatorSpec& op, const OpDef& def, const OracleArgs& args) {
  opkit_call call(plugin, def, op.schema.get(), args.paramBytes);
  call.setWide(args);
  return call.invoke("oracle", [&] { return op.functions.oracle(&call, op.functions.user); });
}

double countFlops(const std::string& plugin, const OperatorSpec& op, const OpDef& def, const ShapeArgs& args,
                  std::span<const TensorDesc> outputs) {
  opkit_call call(plugin, def, op.schema.get(), args.paramBytes);
  call.setInputs(args.inputs, {});
  call.setOutputs(outputs);
  double flops = 0;
  const Status status =
      call.invoke("flops", [&] { return flops = op.functions.flops(&call, op.functions.user), OPKIT_OK; });
  return status.isOk() ? flops : 0;
}

Creator addedCreator(const std::string& plugin, const AddedKernelSpec& spec, const OpDef& def) {
  const auto reader = readerOf(def.params);
  Creator creator = spec.cpu ? creatorOf(plugin, *spec.cpu, spec.user, reader)
                             : vulkanCreator(plugin, *spec.vulkan, spec.user, reader);
  creator.dtypes = spec.dtypes;
  creator.kernel = spec.name;
  return creator;
}

}  // namespace

OpDef cardOf(const std::string& plugin, const std::shared_ptr<const OperatorSpec>& op) {
  // The callbacks read the operator from this copy: a card cannot refer to itself.
  auto named = std::make_shared<OpDef>();
  named->type = op->type;
  named->params = op->schema->paramsSchema();
  OpDef card = *named;
  card.summary = op->summary;
  card.inputs = op->inputs;
  card.outputs = op->outputs;
  card.numeric = op->numeric;
  card.errorFloor = op->functions.error_floor;
  card.domain = op->domain;
  card.inferShapes = [plugin, op, named](const ShapeArgs& args) { return inferWith(plugin, *op, *named, args); };
  if (op->functions.flops)
    card.flops = [plugin, op, named](const ShapeArgs& args, std::span<const TensorDesc> outputs) {
      return countFlops(plugin, *op, *named, args, outputs);
    };
  if (op->functions.oracle)
    card.oracle = [plugin, op, named](const OracleArgs& args) { return runOracle(plugin, *op, *named, args); };
  return card;
}

Creator creatorOf(const std::string& plugin, const KernelSpec& kernel, void* user,
                  const std::shared_ptr<const AttributeReader>& reader) {
  Creator creator;
  creator.provider = kernel.provider;
  creator.supports = [=](const CreateArgs& args) {
    if (!kernel.functions.supports) return Status::ok();
    opkit_call call(plugin, args.def, reader.get(), args.paramBytes);
    call.setInputs(args.inputs, args.constants);
    call.setOutputs(args.outputs);
    return call.invoke("supports", [&] { return kernel.functions.supports(&call, user); });
  };
  creator.create = [=](const CreateArgs& args, Backend& backend) {
    return PluginExecution::create(plugin, kernel, user, reader.get(), args, backend);
  };
  return creator;
}

Status checkAddedKernels(const std::vector<AddedKernelSpec>& kernels, const OpRegistry& registry) {
  std::map<std::pair<std::string, std::string>, std::vector<Creator>> tables;
  for (const AddedKernelSpec& spec : kernels) {
    const OpDef* def = registry.find(spec.type);
    if (!def) return Status::invalidArgument("kernel of {}: there is no such operator", spec.type);
    if (const auto why = takesNoKernels(*def); !why.empty())
      return Status::invalidArgument("kernel of {}: the operator takes no kernels: {}", spec.type, why);
    if (!spec.cpu && !spec.vulkan) continue;  // this build has no Vulkan
    const auto [found, isNew] = tables.try_emplace({spec.backend, spec.type});
    if (isNew) found->second = creatorTable(registry, spec.backend, *def);
    const Creator creator = addedCreator("", spec, *def);
    OPKIT_TRY(checkNewCreator(found->second, creator, spec.backend, spec.type));
    found->second.push_back(creator);
  }
  return Status::ok();
}

CreatorSource addedKernels(const std::string& plugin, const std::vector<AddedKernelSpec>& kernels) {
  return [=](std::string_view backend, const OpDef& def) {
    std::vector<Creator> found;
    for (const AddedKernelSpec& spec : kernels)
      if (spec.backend == backend && spec.type == def.type && (spec.cpu || spec.vulkan))
        found.push_back(addedCreator(plugin, spec, def));
    return found;
  };
}

OnnxRule onnxRuleOf(const std::shared_ptr<const OperatorSpec>& op) {
  return [op](OnnxNode& node) { return node.emit(op->type, node.inputs(), op->schema->fromOnnx(node)); };
}

}  // namespace opkit::plugin
