// op-run: runs a model on a backend with the given shapes and values, and reports the results.
#include <filesystem>

#include "engine/backend/cpu/simd_target.h"
#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/vulkan_runtime.h"
#endif
#include "engine/base/guard.h"
#include "engine/base/make_thread_pool.h"
#include "engine/base/printable.h"
#include "engine/model/tensor_file.h"
#include "engine/runtime/session.h"
#include "engine/tensor/objects.h"
#include "engine/tools/cli.h"
#include "engine/tools/file_clash.h"
#include "engine/tools/plugins.h"
#include "engine/tools/run_report.h"
#include "engine/tools/run_values.h"
#include "harness/zoo/load_model.h"
#include "ops/builtin_ops.h"
#include "ops/features/zip_map.h"

namespace opkit {
namespace {

constexpr uint64_t kSeed = 1;

constexpr const char* kFooter =
    R"(MODEL is an .onnx or .opk file, or zoo:NAME (squeezenet, mobilenet_v2, resnet50, transformer, ...),
or zoo:NAME:PARAMETER=NUMBER,... to choose sizes.
Examples:
  op-run zoo:resnet50 --backend vulkan --placement --profile
  op-run zoo:squeezenet --backend auto --placement
  op-run zoo:transformer --resize input=1x16x128 --resize input=1x64x128
  op-run zoo:decoder:layers=4,model=256,heads=8 --backend vulkan
  op-run zoo:resnet50 --forbid reference --force Conv=opkit --placement
  op-run model.onnx --input x=input_0.pb --expect y=output_0.pb)";

struct Options {
  std::string model;
  SessionConfig session;
  InterpreterOptions interpreter;
  std::vector<std::string> inputs;
  std::vector<std::string> resizes;
  std::vector<std::string> expects;
  std::string outputFolder;
  std::string jsonPath;
  std::string tracePath, simd;
  double rtol = 1e-3;
  double atol = 1e-5;
  bool placement = false;
  bool passes = false;
  size_t repeat = 1;
  std::string precision = "high";
  std::string record = "indirect";
  std::vector<std::string> prefer, forbid, force;
};

void describeLimits(CLI::App& app, SessionConfig& session) {
  app.add_option("--memory-limit", session.memoryLimitBytes,
                 "Limit the memory of tensors and constants on the device, such as 64MB; 0 is no limit")
      ->transform(cli::sizeValue())
      ->type_name("SIZE");
  app.add_option("--plans", session.planCacheSize, "Keep the plans of this many sets of shapes")
      ->check(cli::wholeNumber(1, 1'000'000))
      ->capture_default_str();
  app.add_flag_callback(
      "--low-memory", [&session] { session.memory = MemoryHint::Low; }, "Save memory at the cost of speed");
  app.add_flag_callback(
      "--low-power", [&session] { session.power = PowerHint::Low; }, "Save power at the cost of speed");
  app.add_option("--iteration-limit", session.iterationLimit,
                 "Fail if a Loop runs its body more often than this; 0 is no limit")
      ->capture_default_str();
  app.add_flag("--start-on-cpu", session.startOnCpu, "Run on the CPU until the backend is ready");
}

void describeProgram(CLI::App& app, Options& options) {
  app.footer(kFooter);
  app.add_option("MODEL", options.model, "The model to run")->required();
  app.add_option("--backend", options.session.backend,
                 "Run on cpu, vulkan, reference or null; auto takes the best device and places each command by cost")
      ->capture_default_str();
  app.add_flag("--place-by-cost", options.session.placeByCost,
               "Run each command on the backend or on the CPU, by measured cost with copies");
  app.add_option("--device", options.session.device, "Use the device with this index, part of a name, or UUID");
  app.add_option("--input", options.inputs,
                 "Fill an input: NAME=FILE (.npy or .pb), NAME=random or NAME=ramp (default random)")
      ->type_name("NAME=SOURCE");
  app.add_option("--resize", options.resizes,
                 "Set the shape of an input: NAME=1x3x256x256; several for one NAME run in turn")
      ->type_name("NAME=SHAPE");
  app.add_option("--output", options.outputFolder, "Write the outputs to this folder (.npy)")
      ->type_name("DIR")
      ->check(cli::outputFolder());
  app.add_option("--expect", options.expects, "Compare an output of the last run with a file; exit 1 if they differ")
      ->type_name("NAME=FILE");
  app.add_option("--rtol", options.rtol, "Set the relative tolerance of --expect")
      ->check(cli::finiteNumber(0))
      ->capture_default_str();
  app.add_option("--atol", options.atol, "Set the absolute tolerance of --expect")
      ->check(cli::finiteNumber(0))
      ->capture_default_str();
  app.add_flag("--profile", options.session.profile, "Time every command and compare it with the device's peak");
  app.add_flag("--placement", options.placement, "Print which kernel ran each command, and why faster ones refused");
  app.add_option("--no-pass", options.interpreter.disabledPasses, "Skip this graph pass; all skips every pass")
      ->type_name("NAME");
  app.add_flag("--passes", options.passes, "List the graph passes and their changes");
  app.add_option("--repeat", options.repeat, "Run each shape this many times")
      ->check(cli::wholeNumber(1, 1'000'000'000))
      ->capture_default_str();
  app.add_option("--simd", options.simd, "Use no better instruction set of the CPU than this: AVX2, SSE4, ...");
  app.add_option("--threads", options.session.threads, "Use this many CPU threads; 0 is one per core")
      ->check(cli::wholeNumber(0, kMostThreads))
      ->capture_default_str();
  app.add_option("--precision", options.precision, "Choose how the device stores floats: normal and low store fp16")
      ->check(CLI::IsMember({"high", "normal", "low"}))
      ->capture_default_str();
  describeLimits(app, options.session);
  app.add_option("--record", options.record,
                 "Record all commands into one command buffer (indirect), or each into its own (direct)")
      ->check(CLI::IsMember({"indirect", "direct"}))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--validation", [&options](const std::string& name) { options.session.validation = *parseValidation(name); },
         "Run under the Vulkan validation layers: core, sync or gpu")
      ->check(CLI::IsMember({"off", "core", "sync", "gpu"}));
  const auto addRule = [&app](const char* name, std::vector<std::string>& rules, const char* text) {
    app.add_option(name, rules, text)->type_name("[OPERATOR=]PROVIDER");
  };
  addRule("--prefer", options.prefer, "Try this provider's kernels first; several are tried in the order given");
  addRule("--forbid", options.forbid, "Do not use this provider's kernels");
  addRule("--force", options.force, "Use only this provider's kernels");
  app.add_option_function<std::string>(
         "--storage",
         [&options](const std::string& name) {
           options.session.storage = name == "image"    ? Storage::Image
                                     : name == "buffer" ? Storage::Buffer
                                                        : Storage::Auto;
         },
         "Store tensors of convolutions and similar operators on Vulkan in buffers or images")
      ->check(CLI::IsMember({"auto", "buffer", "image"}));
  app.add_flag("--tune", options.session.tune, "Time the alternatives of kernels at a resize and remember the fastest");
  app.add_option("--cache-dir", options.session.cacheDir,
                 "Keep compiled pipelines and tuning results in this folder; off keeps none (default: OPKIT_CACHE_DIR, "
                 "else ~/.cache/opkit)")
      ->type_name("DIR");
  app.add_option("--trace", options.tracePath, "Write every run as a Chrome trace; implies --profile")
      ->type_name("FILE")
      ->check(cli::outputFile());
  app.add_option("--json", options.jsonPath, "Write a report as JSON")->type_name("FILE")->check(cli::outputFile());
}

/// The source of the values of each input, and its successive shapes.
class InputPlan {
 public:
  /// Reads every file and checks every shape now, so that nothing runs if one is bad.
  static Result<InputPlan> create(const Options& options, const Session& session) {
    InputPlan plan;
    plan.defaults_ = session.defaultNames();
    for (const std::vector<std::string>& names : {session.inputNames(), plan.defaults_})
      for (const std::string& name : names) plan.entries_[name];
    for (const std::string& text : options.inputs) OPKIT_TRY(plan.addSource(text, session));
    for (const std::string& text : options.resizes) OPKIT_TRY(plan.addShape(text, session));
    return plan;
  }

  size_t stepCount() const {
    size_t count = 1;
    for (const auto& [name, entry] : entries_) count = std::max(count, entry.shapes.size());
    return count;
  }

  /// Before the first step: the inputs whose default is replaced.
  Status replaceDefaults(Session& session) const {
    for (const std::string& name : defaults_) {
      const Entry& entry = entries_.at(name);
      if (entry.file) OPKIT_TRY(session.setDefault(name, *entry.file));
    }
    return Status::ok();
  }

  /// Shapes and fills every input for one step; an input with fewer shapes keeps its last.
  Status apply(Session& session, size_t step) const {
    for (const auto& [name, entry] : entries_) {
      if (isDefault(name)) continue;
      if (!entry.shapes.empty())
        OPKIT_TRY(session.resizeInput(name, entry.shapes[std::min(step, entry.shapes.size() - 1)]));
      else if (entry.file)
        OPKIT_TRY(session.resizeInput(name, entry.file->desc.shape));
    }
    return Status::ok();
  }

  Status fill(Session& session) const {
    uint64_t seed = kSeed;
    for (const std::string& name : session.inputNames()) {
      const Entry& entry = entries_.at(name);
      Tensor& tensor = *session.fillInput(name);
      if (isObject(tensor.desc.dtype)) {
        OPKIT_TRY(setObject(name, entry, tensor));
        continue;
      }
      if (entry.file && entry.file->desc != tensor.desc)
        return Status::invalidArgument("input '{}': the model expects {}, the file holds {}", name,
                                       tensor.desc.toString(), entry.file->desc.toString());
      if (entry.file)
        convertElements(*entry.file, tensor);
      else if (entry.ramp)
        fillRamp(tensor);
      else
        fillRandom(tensor, seed);
      ++seed;
    }
    return Status::ok();
  }

 private:
  struct Entry {
    std::vector<Shape> shapes;
    std::optional<Tensor> file;
    bool ramp = false;
  };

  static Status setObject(const std::string& name, const Entry& entry, Tensor& tensor) {
    const DType kind = tensor.desc.dtype;
    if (!entry.file)
      return Status::invalidArgument("input '{}' is {}; give it a file: --input {}=FILE.pb", name, nameOf(kind), name);
    if (entry.file->desc.dtype != kind)
      return Status::invalidArgument("input '{}': the model expects {}, the file holds {}", name, nameOf(kind),
                                     describe(*entry.file));
    tensor = *entry.file;
    return Status::ok();
  }

  Result<Entry*> find(const std::string& option, const std::string& name) {
    const auto found = entries_.find(name);
    if (found != entries_.end()) return &found->second;
    std::vector<std::string> names;
    for (const auto& [known, entry] : entries_) names.push_back(known);
    return Status::invalidArgument("{}: no input is called '{}'; the model's inputs are: {}", option, name,
                                   fmt::join(names, ", "));
  }

  bool isDefault(const std::string& name) const { return std::ranges::find(defaults_, name) != defaults_.end(); }

  Status addSource(const std::string& text, const Session& session) {
    OPKIT_ASSIGN(const cli::NamedValue source, cli::parseNamedValue("--input", text));
    OPKIT_ASSIGN(Entry * entry, find("--input", source.name));
    entry->ramp = source.value == "ramp";
    const bool isFile = !entry->ramp && source.value != "random";
    if (!isFile && isDefault(source.name))
      return Status::invalidArgument("--input: '{}' has a default, which a file replaces, got '{}'", source.name,
                                     source.value);
    if (!isFile) return Status::ok();
    OPKIT_ASSIGN(entry->file, loadTensor(source.value, session.inputType(source.name)));
    return Status::ok();
  }

  Status addShape(const std::string& text, const Session& session) {
    OPKIT_ASSIGN(const cli::NamedValue resize, cli::parseNamedValue("--resize", text));
    OPKIT_ASSIGN(Entry * entry, find("--resize", resize.name));
    OPKIT_ASSIGN(Shape shape, cli::parseShape(resize.value));
    OPKIT_TRY(session.inputDesc(resize.name, shape).error());
    entry->shapes.push_back(std::move(shape));
    return Status::ok();
  }

  std::map<std::string, Entry> entries_;  // every input of the model
  std::vector<std::string> defaults_;     // those with a default
};

Result<RunStep> runStep(Session& session, const InputPlan& plan, size_t index, size_t repeat, bool trace) {
  RunStep step;
  OPKIT_TRY(plan.apply(session, index));
  OPKIT_TRY(plan.fill(session));
  const size_t resizes = session.statistics().resizes;
  OPKIT_TRY(session.resize());
  if (session.statistics().resizes > resizes) step.resizeNs = session.statistics().lastResizeNs;
  for (size_t i = 0; i < repeat; ++i) {
    OPKIT_TRY(session.run());
    step.runNs.push_back(session.statistics().lastRunNs);
    if (trace) step.traced.push_back({step.runNs.back(), session.placement()});
  }
  for (const std::string& name : session.inputNames())
    step.inputs.push_back(name + " " + session.input(name)->desc.toString());
  for (const std::string& name : session.outputNames()) {
    OPKIT_ASSIGN(Tensor copy, copyOf(*session.output(name)));
    step.outputs.emplace_back(name, std::move(copy));
  }
  step.placement = session.placement();
  step.statistics = session.statistics();
  step.measurements = session.counters().measurements;
  return step;
}

struct Expectation {
  std::string name;
  Tensor tensor;
};

Result<std::vector<Expectation>> readExpectations(const Options& options, const Session& session) {
  const std::vector<std::string> names = session.outputNames();
  std::vector<Expectation> expectations;
  for (const std::string& text : options.expects) {
    OPKIT_ASSIGN(const cli::NamedValue expect, cli::parseNamedValue("--expect", text));
    if (std::find(names.begin(), names.end(), expect.name) == names.end())
      return Status::invalidArgument("--expect: no output is called '{}'; the model's outputs are: {}", expect.name,
                                     fmt::join(names, ", "));
    OPKIT_ASSIGN(Tensor tensor, loadTensor(expect.value, session.outputType(expect.name)));
    expectations.push_back({expect.name, std::move(tensor)});
  }
  return expectations;
}

/// Files that the program reads.
std::vector<std::string> filesRead(const Options& options) {
  std::vector<std::string> files = {options.model};
  for (const std::vector<std::string>* words : {&options.inputs, &options.expects})
    for (const std::string& word : *words) files.push_back(word.substr(word.find('=') + 1));
  return files;
}

Status writeOutputs(const cli::OutputFiles& files, const RunStep& step, size_t index) {
  for (const auto& [name, tensor] : step.outputs) {
    OPKIT_ASSIGN(const std::string place, files.place(index, name));
    OPKIT_TRY(saveTensor(place + (isObject(tensor.desc.dtype) ? ".pb" : ".npy"), tensor));
  }
  return Status::ok();
}

nlohmann::json compare(const Options& options, const std::vector<Expectation>& expectations, const RunStep& step,
                       bool& passed) {
  nlohmann::json list = nlohmann::json::array();
  for (const Expectation& expectation : expectations) {
    for (const auto& [name, tensor] : step.outputs) {
      if (name != expectation.name) continue;
      const Comparison result = compareTensors(tensor, expectation.tensor, options.rtol, options.atol);
      fmt::print("{} {}: {}\n", result.passed ? "equal " : "DIFFER", printable(name), printable(result.message));
      passed = passed && result.passed;
      list.push_back({{"output", name}, {"passed", result.passed}, {"message", result.message}});
    }
  }
  return list;
}

Result<SessionConfig> sessionConfig(const Options& options) {
  SessionConfig config = options.session;
  config.profile = config.profile || !options.tracePath.empty();
  if (config.validation != Validation::Off && config.backend != "vulkan" && config.backend != "auto")
    return Status::invalidArgument("--validation is for the backend vulkan, got --backend {}", config.backend);
  using Kind = ProviderRule::Kind;
  for (const std::string& text : options.prefer) OPKIT_TRY(config.providers.add(Kind::Prefer, text));
  for (const std::string& text : options.forbid) OPKIT_TRY(config.providers.add(Kind::Forbid, text));
  for (const std::string& text : options.force) OPKIT_TRY(config.providers.add(Kind::Force, text));
  if (options.precision != "high") config.precision = options.precision == "low" ? Precision::Low : Precision::Normal;
  config.record = options.record == "direct" ? RecordMode::Direct : RecordMode::Indirect;
  return config;
}

uint64_t validationMessages() {
#ifdef OPKIT_HAS_VULKAN
  return vulkan::validationMessageCount();
#else
  return 0;
#endif
}

/// Of every backend that ran commands and can be measured.
PeaksOf peaksOf(const Interpreter& interpreter, const Session& session) {
  PeaksOf peaks;
  for (const MemoryStatistics& memory : session.statistics().memory) {
    SessionConfig config = session.config();
    if (memory.backend != config.backend) config.device.clear();
    config.backend = memory.backend;
    auto runtime = interpreter.runtimeOf(config);
    if (!runtime) continue;
    auto measured = measurePeaks(interpreter.registry(), config, *std::move(runtime));
    if (measured) peaks[memory.backend] = *std::move(measured);
  }
  return peaks;
}

/// Which outputs are scores in place of maps, and the labels of their columns.
void printColumns(const Model& model) {
  constexpr size_t kMost = 10;
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    std::vector<std::string> labels = ops::features::columnLabels(model, i);
    if (labels.empty()) continue;
    const size_t count = labels.size();
    labels.resize(std::min(count, kMost));
    fmt::print("output {} is the scores in place of the maps of ZipMap; its {} columns are {}{}\n",
               printable(model.tensors[model.outputs[i]].name), count,
               printable(fmt::format("{}", fmt::join(labels, ", "))), count > kMost ? ", ..." : "");
  }
}

Result<int> run(const Options& options, cli::Plugins& plugins) {
  OPKIT_TRY(plugins.load());
  if (!options.simd.empty()) OPKIT_TRY(cpu::limitSimd(options.simd).withContext("--simd"));
  OPKIT_ASSIGN(Model model, loadModel(options.model, plugins.registry(), plugins.onnxRules()));
  printColumns(model);
  OPKIT_ASSIGN(const auto interpreter, Interpreter::create(std::move(model), plugins.registry(), options.interpreter));
  OPKIT_ASSIGN(const SessionConfig config, sessionConfig(options));
  OPKIT_ASSIGN(const auto session, interpreter->createSession(config));
  OPKIT_ASSIGN(const InputPlan plan, InputPlan::create(options, *session));
  OPKIT_TRY(plan.replaceDefaults(*session));
  OPKIT_ASSIGN(const std::vector<Expectation> expectations, readExpectations(options, *session));
  printDevice(session->device());
  if (options.passes) printPasses(*interpreter);
  // Keeps only the data of a step that a requested file needs, so that any number of steps fits into memory.
  nlohmann::json stepList = nlohmann::json::array(), comparisons = nlohmann::json::array();
  std::vector<TracedRun> traced;
  PeaksOf peaks;
  bool passed = true;
  const size_t stepCount = plan.stepCount();
  std::optional<cli::OutputFiles> files;
  if (!options.outputFolder.empty()) {
    OPKIT_ASSIGN(files,
                 cli::OutputFiles::plan(options.outputFolder, session->outputNames(), stepCount, filesRead(options)));
    for (const auto& [name, stem] : files->renamed())
      fmt::print("output '{}' is written as {}\n", printable(name), printable(stem));
  }
  for (size_t i = 0; i < stepCount; ++i) {
    OPKIT_ASSIGN(RunStep step, runStep(*session, plan, i, options.repeat, !options.tracePath.empty()));
    printStep(step);
    if (options.placement) printPlacement(step);
    if (options.session.profile && i == 0) peaks = peaksOf(*interpreter, *session);
    if (options.session.profile) printProfile(step, peaks);
    if (options.session.profile || options.placement) printMemory(step);
    if (!options.jsonPath.empty()) stepList.push_back(stepJson(step, peaks));
    std::ranges::move(step.traced, std::back_inserter(traced));
    if (i + 1 == stepCount) comparisons = compare(options, expectations, step, passed);
    if (files) OPKIT_TRY(writeOutputs(*files, step, i));
  }
  OPKIT_TRY(cli::writeJson(options.tracePath, chromeTrace(traced)));
  OPKIT_TRY(cli::writeJson(options.jsonPath, {{"program", "op-run"},
                                              {"version", OPKIT_VERSION},
                                              {"model", options.model},
                                              {"device", deviceJson(session->device())},
                                              {"steps", stepList},
                                              {"peaks", peaksJson(peaks)},
                                              {"expect", comparisons}}));
  if (const uint64_t messages = validationMessages(); messages > 0) {
    fmt::print(stderr, "op-run: the validation layers reported {} message{}\n", messages, messages == 1 ? "" : "s");
    passed = false;
  }
  return passed ? cli::kSuccess : cli::kCheckFailed;
}

}  // namespace
}  // namespace opkit

int main(int argc, char** argv) {
  return opkit::guardedMain("op-run", [=] {
    CLI::App app("Runs a model on a backend.", "op-run");
    opkit::Options options;
    opkit::describeProgram(app, options);
    opkit::cli::Plugins plugins(opkit::ops::builtinOps(), opkit::ops::builtinOnnxRules());
    plugins.add(app);
    return opkit::cli::runProgram(app, argc, argv, [&] { return opkit::run(options, plugins); });
  });
}
