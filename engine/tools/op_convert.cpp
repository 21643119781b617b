// op-convert: turns ONNX and zoo networks into .opk files, writes zoo networks as ONNX, lists models.
#include "engine/base/guard.h"
#include "engine/model/model.h"
#include "engine/tools/cli.h"
#include "engine/tools/model_listing.h"
#include "engine/tools/plugins.h"
#include "harness/zoo/load_model.h"
#include "harness/zoo/zoo.h"
#include "ops/builtin_ops.h"

namespace opkit {
namespace {

constexpr const char* kFooter = R"(Examples:
  op-convert model.onnx model.opk
  op-convert zoo:resnet50 resnet50.onnx
  op-convert --dump model.opk)";

struct Options {
  std::string input;
  std::string output;
  bool dump = false;
  std::string jsonPath;
};

/// Only zoo networks have an ONNX form to write.
Result<size_t> writeOnnx(const Options& options) {
  constexpr std::string_view kZooPrefix = "zoo:";
  if (!options.input.starts_with(kZooPrefix))
    return Status::unsupported("ONNX can be written from zoo:NAME only, got '{}'; choose an .opk output",
                               options.input);
  OPKIT_ASSIGN(const auto bytes, buildZoo(options.input.substr(kZooPrefix.size())));
  OPKIT_TRY(writeFile(options.output, bytes));
  return bytes.size();
}

Result<int> run(const Options& options, cli::Plugins& plugins) {
  const bool onnx = options.output.ends_with(".onnx");
  if (options.output.empty() && !options.dump)
    return Status::invalidArgument("expected an output file, or --dump; see op-convert --help");
  if (!options.output.empty() && !onnx && !options.output.ends_with(".opk"))
    return Status::invalidArgument("expected an output ending in .opk or .onnx, got '{}'", options.output);
  OPKIT_TRY(plugins.load());
  OPKIT_ASSIGN(const Model model, loadModel(options.input, plugins.registry(), plugins.onnxRules()));
  if (options.dump) fmt::print("{}", listModel(model, plugins.registry()));
  nlohmann::json record = {{"program", "op-convert"},
                           {"version", OPKIT_VERSION},
                           {"model", options.input},
                           {"nodes", model.nodes.size()},
                           {"tensors", model.tensors.size()}};
  if (!options.output.empty()) {
    OPKIT_ASSIGN(const size_t bytes, onnx ? writeOnnx(options) : writeModel(model, options.output));
    fmt::print("{}: {} bytes, {} nodes\n", options.output, bytes, model.nodes.size());
    record["output"] = options.output;
    record["bytes"] = bytes;
  }
  OPKIT_TRY(cli::writeJson(options.jsonPath, record));
  return cli::kSuccess;
}

}  // namespace
}  // namespace opkit

int main(int argc, char** argv) {
  return opkit::guardedMain("op-convert", [=] {
    CLI::App app("Converts models to .opk, writes zoo networks as ONNX, lists models.", "op-convert");
    opkit::Options options;
    app.footer(opkit::kFooter);
    app.add_option("MODEL", options.input, "An .onnx or .opk file, or zoo:NAME")->required();
    app.add_option("OUTPUT", options.output, "The .opk file to write; .onnx for zoo:NAME")
        ->check(opkit::cli::outputFile());
    app.add_flag("--dump", options.dump, "Print a readable listing");
    app.add_option("--json", options.jsonPath, "Write a report as JSON")
        ->type_name("FILE")
        ->check(opkit::cli::outputFile());
    opkit::cli::Plugins plugins(opkit::ops::builtinOps(), opkit::ops::builtinOnnxRules());
    plugins.add(app);
    return opkit::cli::runProgram(app, argc, argv, [&] { return opkit::run(options, plugins); });
  });
}
