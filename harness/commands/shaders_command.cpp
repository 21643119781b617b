#include "engine/backend/vulkan/spirv_facts.h"
#include "engine/backend/vulkan/vulkan_runtime.h"
#include "harness/check/prepared.h"
#include "harness/commands/commands.h"
#include "harness/run/terminal.h"

namespace opkit::harness {
namespace {

struct Options {
  BackendOptions backend;
  CaseOptions cases;
  std::string json;
};

/// Every shader variant that the cases dispatch, and how often.
Result<std::map<std::string, std::pair<vulkan::ShaderCode, size_t>>> dispatched(const Options& options) {
  const OpRegistry& registry = plugins().registry();
  OPKIT_ASSIGN(const Catalogue catalogue, loadCases(options.cases, registry));
  OPKIT_ASSIGN(const auto opened, createRuntime("vulkan", options.backend.runtimeOptions("vulkan")));
  printDevice(opened->device());
  const auto runtime = std::dynamic_pointer_cast<vulkan::VulkanRuntime>(opened);
  std::map<std::string, std::pair<vulkan::ShaderCode, size_t>> used;
  runtime->setShaderSource([&used](const vulkan::ShaderCode& code) {
    ++used.try_emplace(code.name, code, 0).first->second.second;
    return code.spirv;
  });
  for (const CaseGroup& group : catalogue.groups) {
    const Case& c = group.cases.front();
    if (c.fallback.contains("vulkan")) continue;
    const PreparedGroup prepared = prepareGroup({{c}}, registry);
    if (!prepared.cases[0].status.isOk()) continue;
    const auto interpreter = makeOpInterpreter(c, registry, prepared.cases[0].inputs);
    if (!interpreter) continue;
    const auto session = (*interpreter)->createSession({.backend = "vulkan"}, runtime);
    if (session && feed(**session, c, prepared.cases[0].inputs).isOk()) static_cast<void>((*session)->resize().isOk());
  }
  runtime->setShaderSource(nullptr);
  return used;
}

Result<int> shaders(const Options& options) {
  OPKIT_ASSIGN(const auto used, dispatched(options));
  Table table({"shader", "dispatches", "words", "instructions", "loads", "stores", "arithmetic", "branches", "barriers",
               "shared bytes", "local size"});
  nlohmann::json document = nlohmann::json::array();
  for (const auto& [name, entry] : used) {
    const vulkan::SpirvFacts facts = vulkan::factsOf(entry.first.spirv, {});
    const auto& local = facts.localSize;
    table.add({name, std::to_string(entry.second), std::to_string(facts.words), std::to_string(facts.instructions),
               std::to_string(facts.loads), std::to_string(facts.stores), std::to_string(facts.arithmetic),
               std::to_string(facts.branches), std::to_string(facts.barriers), std::to_string(facts.sharedBytes),
               fmt::format("{}x{}x{}", local[0], local[1], local[2])});
    document.push_back({{"shader", name},
                        {"dispatches", entry.second},
                        {"words", facts.words},
                        {"instructions", facts.instructions},
                        {"loads", facts.loads},
                        {"stores", facts.stores},
                        {"arithmetic", facts.arithmetic},
                        {"branches", facts.branches},
                        {"barriers", facts.barriers},
                        {"sharedBytes", facts.sharedBytes},
                        {"localSize", local}});
  }
  OPKIT_TRY(cli::writeJson(options.json, document));
  fmt::print("{}", table.toString());
  return table.empty() ? cli::kNothingRan : cli::kSuccess;
}

}  // namespace

void addShadersCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("shaders", "SPIR-V statistics of the shaders that the cases dispatch");
  auto options = std::make_shared<Options>();
  options->backend.backends = {"vulkan"};
  command->add_option("--device", options->backend.device, "Device by index, part of its name, or UUID");
  command->add_option("--mask", options->backend.mask, "Pretend that the device lacks things, see check");
  options->cases.add(*command);
  command->add_option("--json", options->json, "Write the table as JSON");
  command->footer("Example:\n  op-harness shaders --op Softmax");
  command->callback([options, &context] { context.run = [options] { return shaders(*options); }; });
}

}  // namespace opkit::harness
