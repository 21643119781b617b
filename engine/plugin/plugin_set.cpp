#include "engine/plugin/plugin_set.h"

#include "engine/graph/pass.h"
#include "engine/plugin/call.h"
#include "engine/plugin/encoder.h"
#include "engine/plugin/graph_view.h"
#include "engine/plugin/kernels.h"
#include "engine/plugin/library.h"
#include "engine/plugin/plugin_backend.h"
#include "engine/plugin/registrar.h"

namespace opkit {

using plugin::Contents;

/// One plugin. Everything that may call into it holds `library`; nobody else does.
struct PluginSet::Loaded {
  std::shared_ptr<plugin::Library> library;
  Contents contents;
  std::optional<ExtraCreators> kernels = std::nullopt;

  PluginInfo info() const {
    PluginInfo info{contents.name, contents.version, contents.path, {}, {}, {}, {}};
    for (const auto& op : contents.operators) info.operators.push_back(op.type);
    for (const auto& kernel : contents.kernels)
      info.kernels.push_back(fmt::format("{} on {}", kernel.type, kernel.backend));
    for (const auto& backend : contents.backends) info.backends.push_back(backend.name);
    for (const auto& pass : contents.passes) info.passes.push_back(pass.name);
    return info;
  }
};

struct PluginSet::Snapshot {
  OpRegistry registry;
  OnnxRules rules;
};

namespace {

Status addOperators(const Contents& contents, OpRegistry& registry, OnnxRules& rules) {
  for (const plugin::OperatorSpec& spec : contents.operators) {
    if (registry.find(spec.type)) return Status::invalidArgument("there is an operator '{}' already", spec.type);
    const auto op = std::make_shared<const plugin::OperatorSpec>(spec);
    registry.setFolder(contents.name);
    registry.add(plugin::cardOf(contents.name, op));
    if (op->cpu)
      registry.addCreator("cpu", op->type, plugin::creatorOf(contents.name, *op->cpu, op->functions.user, op->schema));
    if (op->vulkan)
      registry.addCreator("vulkan", op->type,
                          plugin::vulkanCreator(contents.name, *op->vulkan, op->functions.user, op->schema));
    const std::vector<std::string> attributes = op->schema->names();
    rules.add(op->type, {attributes.begin(), attributes.end()}, plugin::onnxRuleOf(op));
  }
  return Status::ok();
}

/// Runs a plugin's pass; a mistake of it fails the model rather than changing what it computes.
Result<size_t> runPass(const std::string& name, const plugin::PassSpec& pass, Model& model,
                       const OpRegistry& registry) {
  opkit_graph graph(model, registry);
  opkit_call call(name);
  size_t changes = 0;
  const Status status =
      call.invoke(pass.name.c_str(), [&] { return pass.functions.run(&graph, pass.functions.user, &changes); });
  OPKIT_TRY(graph.finish().withContext(fmt::format("plugin '{}': pass {}", name, pass.name)));
  OPKIT_TRY(status);
  return changes;
}

Status addPasses(const Contents& contents, OpRegistry& registry) {
  for (const plugin::PassSpec& spec : contents.passes) {
    for (const auto& known : registry.passes())
      if (known->name == spec.name) return Status::invalidArgument("there is a pass '{}' already", spec.name);
    GraphPass pass{spec.name, spec.summary, GraphPass::Position::BeforeLowering, nullptr, nullptr};
    pass.rewriteModel = [name = contents.name, spec](Model& model, const OpRegistry& all) {
      return runPass(name, spec, model, all);
    };
    registry.addPass(std::move(pass));
  }
  return Status::ok();
}

Result<Contents> collect(plugin::Library& library, const std::string& path) {
  const opkit_plugin& description = library.plugin();
  Contents contents{description.name, description.version ? description.version : "", path, {}, {}, {}, {}};
  opkit_registrar registrar(contents);
  opkit_call call(contents.name);
  const Status status = call.invoke("load", [&] { return description.load(&plugin::hostTable(), &registrar); });
  OPKIT_TRY(registrar.verdict());  // what was wrong says more than that load failed
  OPKIT_TRY(status);
  if (contents.operators.empty() && contents.kernels.empty() && contents.backends.empty() && contents.passes.empty())
    return Status::invalidArgument("it announces no operator, no kernel, no backend and no pass");
  return contents;
}

}  // namespace

PluginSet::PluginSet(const OpRegistry& operators, const OnnxRules& rules) {
  snapshots_.push_back(std::make_unique<Snapshot>(Snapshot{operators, rules}));
}

PluginSet::~PluginSet() {
  for (const auto& loaded : loaded_)
    for (const auto& backend : loaded->contents.backends) removeBackendKind(backend.name);
}

const OpRegistry& PluginSet::registry() const { return snapshots_.back()->registry; }
const OnnxRules& PluginSet::onnxRules() const { return snapshots_.back()->rules; }

Result<std::unique_ptr<PluginSet::Snapshot>> PluginSet::makeSnapshot() const {
  auto snapshot = std::make_unique<Snapshot>(*snapshots_.front());
  for (const auto& loaded : loaded_) {
    OPKIT_TRY(addOperators(loaded->contents, snapshot->registry, snapshot->rules));
    OPKIT_TRY(addPasses(loaded->contents, snapshot->registry));
    snapshot->registry.addOwner(loaded->library);
  }
  snapshot->registry.setFolder("");
  return snapshot;
}

Status PluginSet::publish() {
  OPKIT_ASSIGN(auto snapshot, makeSnapshot());
  snapshots_.push_back(std::move(snapshot));
  return Status::ok();
}

Result<PluginInfo> PluginSet::load(const std::string& path) {
  const std::string where = fmt::format("plugin '{}'", path);
  auto library = guarded([&] { return plugin::Library::open(path); });  // its static objects may throw
  if (!library) return library.error().withContext(where);
  for (const auto& other : loaded_)
    if (other->contents.name == (*library)->plugin().name)
      return Status::invalidArgument("{}: a plugin '{}' is loaded already, from {}", where, other->contents.name,
                                     other->contents.path);
  auto contents = collect(**library, path);
  if (!contents) return contents.error().withContext(where);
  (*library)->setLoaded();
  loaded_.push_back(std::make_unique<Loaded>(Loaded{*std::move(library), *std::move(contents)}));

  // All or nothing: the operators of a new snapshot, then the backends of the process, then the snapshot is current.
  // Added kernels serve only registries that name the library as an owner: nobody has such a registry before.
  Loaded& added = *loaded_.back();
  auto snapshot = makeSnapshot();
  Status status =
      snapshot ? plugin::checkAddedKernels(added.contents.kernels, (*snapshot)->registry) : snapshot.error();
  std::vector<std::string> backends;
  for (const plugin::BackendSpec& spec : added.contents.backends) {
    if (!status.isOk()) break;
    status = addBackendKind(
        plugin::backendKindOf(added.contents.name, std::make_shared<const plugin::BackendSpec>(spec), added.library));
    if (status.isOk()) backends.push_back(spec.name);
  }
  if (status.isOk()) {
    added.kernels.emplace(ExtraCreators::add(
        ExtraCreators::Order::First, plugin::addedKernels(added.contents.name, added.contents.kernels), added.library));
    snapshots_.push_back(*std::move(snapshot));
    return added.info();
  }
  for (const std::string& backend : backends) removeBackendKind(backend);
  loaded_.pop_back();
  return status.withContext(where);
}

Status PluginSet::unload(const std::string& name) {
  const auto found =
      std::find_if(loaded_.begin(), loaded_.end(), [&](const auto& loaded) { return loaded->contents.name == name; });
  if (found == loaded_.end()) return Status::invalidArgument("no plugin is called '{}'", name);
  // Giving up our own hold first makes the question atomic: nobody can take another hold once the last is gone.
  const std::weak_ptr<plugin::Library> watch = (*found)->library;
  std::unique_ptr<Loaded> loaded = std::move(*found);
  for (const auto& backend : loaded->contents.backends) removeBackendKind(backend.name);
  loaded->library.reset();
  if (auto still = watch.lock()) {
    *found = std::move(loaded);
    (*found)->library = std::move(still);
    for (const auto& backend : (*found)->contents.backends)
      OPKIT_TRY(addBackendKind(
          plugin::backendKindOf(name, std::make_shared<const plugin::BackendSpec>(backend), (*found)->library)));
    return Status::invalidArgument("plugin '{}' is busy: a model, session or device that may use it is alive", name);
  }
  loaded_.erase(found);
  return publish();
}

std::vector<PluginInfo> PluginSet::plugins() const {
  std::vector<PluginInfo> list;
  for (const auto& loaded : loaded_) list.push_back(loaded->info());
  return list;
}

}  // namespace opkit
