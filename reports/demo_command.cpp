#include <filesystem>

#include "engine/base/child_process.h"
#include "engine/base/interrupt.h"
#include "ops/builtin_ops.h"
#include "reports/commands.h"
#include "reports/demo/demo_nights.h"
#include "reports/demo/planted.h"
#include "reports/page/page_html.h"

namespace opkit::reports {
namespace {

namespace files = std::filesystem;

struct DemoArguments {
  std::string folder;
  size_t series = 0, nights = 0;  // 0: not given
};

/// The folder of the demonstration. Unless it is kept, the destructor removes what was written.
class DemoFolder {
 public:
  explicit DemoFolder(std::string path) : path_(std::move(path)) {}
  ~DemoFolder() {
    std::error_code ignored;
    if (kept_) return;
    for (const char* name : {"results.jsonl", "history.sqlite", "history.sqlite-journal", "index.html"})
      files::remove(path_ + "/" + name, ignored);
    if (made_) files::remove(path_, ignored);
  }
  DemoFolder(const DemoFolder&) = delete;
  DemoFolder& operator=(const DemoFolder&) = delete;

  Status make() {
    std::error_code error;
    const bool exists = files::exists(path_, error);
    kept_ = exists && (!files::is_directory(path_, error) || !files::is_empty(path_, error));
    if (kept_ || error)
      return Status::invalidArgument("demo: {}: expected a new or empty folder, found {}", path_,
                                     error                        ? error.message()
                                     : files::is_directory(path_) ? "files in it"
                                                                  : "a file");
    made_ = !exists && files::create_directories(path_, error);
    return error ? Status::invalidArgument("demo: {}: cannot be made: {}", path_, error.message()) : Status::ok();
  }
  void keep() { kept_ = true; }

 private:
  std::string path_;
  bool made_ = false, kept_ = false;
};

Status writeDemoPage(const std::string& folder) {
  Results results;
  PageSources sources;
  sources.notes = operatorNotes(ops::builtinOps());
  OPKIT_TRY(readResults(folder + "/results.jsonl", results));
  OPKIT_TRY(addHistory(folder + "/history.sqlite", sources));
  return writePage(results, sources, folder + "/index.html");
}

void printPlanted(size_t nights) {
  fmt::print("Planted in these nights, and where to find it in index.html:\n");
  for (const demo::Planted& one : demo::planted()) {
    if (one.first >= nights) continue;
    const std::string where = fmt::format("{}{}{}", one.op, *one.op && *one.backend ? " on " : "", one.backend);
    fmt::print("- {}, {} {}{}{}: {}.\n  Look: {}.\n", one.name,
               one.change == demo::Change::Killed ? "on the night" : "since", demo::nightName(one.first),
               where.empty() ? "" : ", ", where, one.planted, one.look);
  }
}

void printCommands(const std::string& folder) {
  const std::string history = shellQuoted(folder + "/history.sqlite");
  fmt::print("Commands to try:\n  op-report detect --history {}\n", history);
  fmt::print("  op-report history --history {} --op Softmax --backend vulkan --metric executeWall\n", history);
  fmt::print("  op-report history --history {} --op GridSample --backend vulkan --metric status\n", history);
  fmt::print("  op-report build {} --history {} --output {}\n", shellQuoted(folder + "/results.jsonl"), history,
             shellQuoted(folder + "/page.html"));
}

Result<int> demonstrate(const DemoArguments& arguments) {
  const GracefulInterrupt graceful;
  DemoFolder folder(arguments.folder);
  OPKIT_TRY(folder.make());
  demo::DemoOptions options;
  options.series = arguments.series;
  if (arguments.nights > 0) options.nights = arguments.nights;
  OPKIT_ASSIGN(const demo::DemoCounts counts, demo::writeDemo(arguments.folder, options));
  OPKIT_TRY(writeDemoPage(arguments.folder));
  if (interrupted()) return Status::invalidArgument("interrupted; nothing was written");
  fmt::print("{}/index.html: {} nights, {} results, {} series of times; drawn, not measured\n", arguments.folder,
             counts.nights, counts.lines, counts.series);
  if (options.series == 0) printPlanted(options.nights);
  printCommands(arguments.folder);
  folder.keep();
  return cli::kSuccess;
}

}  // namespace

void addDemoCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand(
      "demo", "Write a history of sixty nights with planted changes, and its page, to try op-report");
  auto options = std::make_shared<DemoArguments>();
  command->add_option("folder", options->folder, "A new or empty folder")->required()->check(cli::outputFolder());
  command
      ->add_option("--series", options->series,
                   "Draw so many series of times, one process run a night, and plant nothing: to measure op-report")
      ->check(cli::wholeNumber(1, 100'000));
  command->add_option("--nights", options->nights, "Draw so many nights; 60 have every planted change")
      ->check(cli::wholeNumber(1, 10'000));
  command->footer(
      "Writes history.sqlite, results.jsonl of the newest night and index.html. The figures are drawn from recorded "
      "noise;\nno device runs. The same options give the same results.\nExample: op-report demo out/demo");
  command->callback([options, &context] { context.run = [options] { return demonstrate(*options); }; });
}

}  // namespace opkit::reports
