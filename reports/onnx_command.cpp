#include <algorithm>

#include "engine/model/model.h"
#include "harness/run/source_table.h"
#include "reports/commands.h"
#include "reports/onnx_page/onnx_page.h"

namespace opkit::reports {
namespace {

struct OnnxArguments {
  std::string output, check;
};

Result<int> write(const std::string& file, const std::string& page) {
  if (file.empty()) {
    fmt::print("{}", page);
    return cli::kSuccess;
  }
  OPKIT_TRY(writeFile(file, {reinterpret_cast<const uint8_t*>(page.data()), page.size()}));
  fmt::print("{}: written\n", file);
  return cli::kSuccess;
}

/// Prints the first line that differs.
Result<int> check(const std::string& file, const std::string& page) {
  OPKIT_ASSIGN(const std::vector<uint8_t> bytes, readFile(file));
  const std::string found(bytes.begin(), bytes.end());
  const auto [expectedAt, foundAt] = std::ranges::mismatch(page, found);
  if (expectedAt == page.end() && foundAt == found.end()) {
    fmt::print("{}: agrees with this build\n", file);
    return cli::kSuccess;
  }
  const size_t same = static_cast<size_t>(foundAt - found.begin());
  const auto lineAt = [same](const std::string& text) {
    const size_t begin = same == 0 ? 0 : text.rfind('\n', same - 1) + 1;  // npos + 1 is the first line
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  fmt::print("{}:{}: expected '{}', found '{}'; regenerate the page with op-report onnx --output\n", file,
             std::ranges::count(found.begin(), foundAt, '\n') + 1, lineAt(page), lineAt(found));
  return cli::kCheckFailed;
}

}  // namespace

void addOnnxCommand(CLI::App& app, CommandContext& context, const cli::Plugins& plugins) {
  CLI::App* command =
      app.add_subcommand("onnx", "Write the page of the ONNX names that OpKit takes, or compare it with the build");
  auto options = std::make_shared<OnnxArguments>();
  CLI::Option* output =
      command->add_option("--output", options->output, "Write the page to this file (default: stdout)")
          ->check(cli::outputFile());
  command->add_option("--check", options->check, "Compare this page with the build; exit 1 if it differs")
      ->excludes(output);
  command->footer("Examples:\n  op-report onnx --output docs/onnx.md\n  op-report onnx --check docs/onnx.md");
  command->callback([options, &context, &plugins] {
    context.run = [options, &plugins]() -> Result<int> {
      harness::noteOldBuild("op-report", "harness/");
      OPKIT_ASSIGN(const std::string page, renderOnnxPage(plugins.registry(), plugins.onnxRules()));
      return options->check.empty() ? write(options->output, page) : check(options->check, page);
    };
  });
}

}  // namespace opkit::reports
