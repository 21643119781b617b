#include "engine/tools/plugins.h"

#include "engine/plugin/trial.h"

namespace opkit::cli {

void Plugins::add(CLI::App& app) {
  app.add_option("--plugin", files_, "Load operators, passes or backends from a shared library (repeatable)")
      ->type_name("FILE")
      ->take_all()
      ->allow_extra_args(false);
}

Status Plugins::load() {
  for (const std::string& file : files_) OPKIT_TRY(tryPlugin(file));  // before one of them may start a thread
  for (const std::string& file : files_) OPKIT_TRY(set_.load(file).error());
  return Status::ok();
}

}  // namespace opkit::cli
