#include "engine/base/printable.h"
#include "engine/model/model.h"
#include "reports/commands.h"
#include "reports/device_page.h"

namespace opkit::reports {
namespace {

Result<int> device(const std::vector<std::string>& files, const std::string& output) {
  Results results;
  for (const std::string& file : files) OPKIT_TRY(readResults(file, results));
  for (const std::string& note : notesOf(results)) printNote("op-report", note);
  const std::string page = devicePages(results);
  if (page.empty()) {
    fmt::print(stderr, "op-report: {} recorded cases, none on a Vulkan device: nothing to report\n",
               results.cases.size());
    return cli::kNothingRan;
  }
  if (output.empty())
    fmt::print("{}", page);
  else
    OPKIT_TRY(writeFile(output, {reinterpret_cast<const uint8_t*>(page.data()), page.size()}).withContext("--output"));
  return cli::kSuccess;
}

}  // namespace

void addDeviceCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      app.add_subcommand("device", "Write what was checked and measured on each Vulkan device, as Markdown");
  auto files = std::make_shared<std::vector<std::string>>();
  auto output = std::make_shared<std::string>();
  command->add_option("results", *files, "Files that op-harness wrote with --json")->required();
  command->add_option("--output", *output, "Write the page to this file (default: stdout)")->check(cli::outputFile());
  command->footer("Example:\n  op-report device out/device/results.jsonl --output out/device/device.md");
  command->callback([files, output, &context] { context.run = [=] { return device(*files, *output); }; });
}

}  // namespace opkit::reports
