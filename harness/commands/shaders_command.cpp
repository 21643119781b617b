#include <filesystem>

#include "engine/backend/vulkan/pipeline_cache.h"
#include "engine/backend/vulkan/spirv_facts.h"
#include "engine/backend/vulkan/vulkan_runtime.h"
#include "engine/model/model.h"
#include "harness/check/prepared.h"
#include "harness/commands/commands.h"
#include "harness/commands/shaders_access.h"
#include "harness/run/terminal.h"
#include "harness/run/worker_note.h"
#include "harness/trace/spirv_counts.h"

namespace opkit::harness {
namespace {

struct ShadersArguments {
  BackendOptions backend;
  CaseOptions cases;
  AccessArguments access;
  std::string json, saveFolder;
};

struct Use {
  vulkan::ShaderCode code;
  size_t dispatches = 0;
  std::vector<vulkan::PipelineStatistic> driver;  // its statistics: registers, spills, by its own names
};

/// Every shader variant that the cases dispatch.
Result<std::map<std::string, Use>> dispatched(const ShadersArguments& options, bool& driverTells) {
  const OpRegistry& registry = plugins().registry();
  OPKIT_ASSIGN(const Catalogue catalogue, loadCases(options.cases, registry));
  noteWork("making the Runtime of vulkan");
  OPKIT_ASSIGN(const auto opened, createRuntime("vulkan", options.backend.runtimeOptions("vulkan")));
  printDevice(opened->device());
  const auto runtime = vulkan::asVulkan(opened);
  driverTells = runtime->pipelines().captureStatistics();
  std::map<std::string, Use> used;
  runtime->setShaderSource([&used](const vulkan::ShaderCode& code) {
    ++used.try_emplace(code.name, Use{code, 0, {}}).first->second.dispatches;
    return code.spirv;
  });
  for (const CaseGroup& group : catalogue.groups) {
    const Case& c = group.cases.front();
    if (c.fallback.contains("vulkan")) continue;
    noteWork(c.id() + " on vulkan");
    const PreparedGroup prepared = prepareGroup({{c}}, registry);
    if (!prepared.cases[0].status.isOk()) continue;
    const auto interpreter = makeOpInterpreter(c, registry, prepared.cases[0].inputs);
    if (!interpreter) continue;
    const auto session = (*interpreter)->createSession({.backend = "vulkan"}, runtime);
    if (session && feed(**session, c, prepared.cases[0].inputs).isOk()) static_cast<void>((*session)->resize().isOk());
  }
  runtime->setShaderSource(nullptr);
  for (auto& [name, statistics] : runtime->pipelines().statistics()) used[name].driver = statistics;
  return used;
}

std::string driverText(const std::vector<vulkan::PipelineStatistic>& statistics) {
  std::string text;
  for (const vulkan::PipelineStatistic& statistic : statistics)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", statistic.name, statistic.value);
  return text;
}

/// Writes the words of each shader as FOLDER/softmax.softmax.STORAGE=f32.spv, for spirv-dis and the compilers of
/// vendors.
Status save(const std::map<std::string, Use>& used, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Status::invalidArgument("--save: cannot make folder '{}': {}", folder, error.message());
  for (const auto& [name, entry] : used) {
    std::string file = name;
    for (char& c : file)
      if (c == '/' || c == ' ') c = '.';
    const std::string path = fmt::format("{}/{}.spv", folder, file);
    const auto* const bytes = reinterpret_cast<const uint8_t*>(entry.code.spirv.data());
    OPKIT_TRY(writeFile(path, {bytes, entry.code.spirv.size() * sizeof(uint32_t)}).withContext("--save"));
    fmt::print("wrote {}\n", path);
  }
  return Status::ok();
}

Result<int> shaders(const ShadersArguments& options) {
  bool driverTells = false;
  OPKIT_ASSIGN(const auto used, dispatched(options, driverTells));
  Table table({"shader", "dispatches", "words", "instructions", "loads", "stores", "arithmetic", "branches", "barriers",
               "shared bytes", "local size", "driver"});
  nlohmann::json document = nlohmann::json::array();
  for (const auto& [name, entry] : used) {
    const vulkan::SpirvFacts facts = vulkan::factsOf(entry.code.spirv, {});
    OPKIT_ASSIGN(const SpirvCounts counts, countsOf(entry.code.spirv));
    const auto& local = facts.localSize;
    table.add({name, std::to_string(entry.dispatches), std::to_string(entry.code.spirv.size()),
               std::to_string(counts.instructions), std::to_string(counts.loads), std::to_string(counts.stores),
               std::to_string(counts.arithmetic), std::to_string(counts.branches), std::to_string(counts.barriers),
               std::to_string(facts.sharedBytes), fmt::format("{}x{}x{}", local[0], local[1], local[2]),
               driverText(entry.driver)});
    document.push_back({{"shader", name},
                        {"dispatches", entry.dispatches},
                        {"words", entry.code.spirv.size()},
                        {"instructions", counts.instructions},
                        {"loads", counts.loads},
                        {"stores", counts.stores},
                        {"arithmetic", counts.arithmetic},
                        {"branches", counts.branches},
                        {"barriers", counts.barriers},
                        {"sharedBytes", facts.sharedBytes},
                        {"localSize", local}});
    for (const vulkan::PipelineStatistic& statistic : entry.driver)
      document.back()["driver"][statistic.name] = statistic.value;
  }
  OPKIT_TRY(cli::writeJson(options.json, document));
  if (!options.saveFolder.empty()) OPKIT_TRY(save(used, options.saveFolder));
  fmt::print("{}", table.toString());
  if (!driverTells) fmt::print("note: this driver does not tell registers (VK_KHR_pipeline_executable_properties)\n");
  return table.empty() ? nothingRan("these cases dispatch no shader") : cli::kSuccess;
}

}  // namespace

void addShadersCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("shaders", "Print SPIR-V statistics of the shaders that the cases dispatch");
  auto options = std::make_shared<ShadersArguments>();
  options->backend.backends = {"vulkan"};
  command->add_option("--device", options->backend.device,
                      "Use the device with this index, part of a name, or UUID; with --access also a described GPU");
  command->add_option("--mask", options->backend.mask,
                      "Hide features of the device and lower its limits, as check --mask does");
  options->cases.add(*command);
  options->access.add(*command);
  command->add_option("--json", options->json, "Write the table as JSON; with --access, append results")
      ->check(cli::outputFile());
  command->add_option("--save", options->saveFolder, "Write the SPIR-V of each shader here (.spv)")
      ->check(cli::outputFolder());
  command->footer(
      "Examples:\n  op-harness shaders --op Softmax\n  op-harness shaders --access --op Transpose --gpu "
      "H100,Adreno750");
  command->callback([options, &context] {
    context.run = [options, &context] {
      if (!options->access.glsl.empty()) return glslAccess(options->access, options->backend);
      if (options->access.wanted && !options->saveFolder.empty())
        return Result<int>(Status::invalidArgument("--save is not for --access"));
      return options->access.wanted
                 ? shadersAccess(options->access, options->backend, options->cases, options->json, context.commandLine)
                 : shaders(*options);
    };
  });
}

}  // namespace opkit::harness
