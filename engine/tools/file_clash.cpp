#include "engine/tools/file_clash.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "engine/tools/validators.h"

namespace opkit::cli {
namespace {

namespace fs = std::filesystem;

/// A value of an option that may name a file.
struct Word {
  const CLI::Option* option = nullptr;
  std::string file;
  bool isOutput = false;
};

bool isOutput(const CLI::Option& option) {
  try {
    return const_cast<CLI::Option&>(option).get_validator(kOutputName) != nullptr;  // CLI11 lacks a const form
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

void collect(const CLI::App& app, std::vector<Word>& words) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_items_expected_max() == 0) continue;
    for (const std::string& value : option->results()) {
      words.push_back({option, value, isOutput(*option)});
      const size_t equals = value.find('=');
      if (equals != std::string::npos) words.push_back({option, value.substr(equals + 1), false});
    }
  }
  for (const CLI::App* command : app.get_subcommands()) collect(*command, words);
}

/// Output names may hold anything; file names may not.
std::string stemOf(const std::string& output) {
  std::string name = output;
  for (char& symbol : name)
    if (symbol == '/' || symbol == '\\' || symbol == ':' || static_cast<unsigned char>(symbol) < ' ') symbol = '_';
  return name.starts_with('.') ? "_" + name : name;
}

/// The disk fails: nobody knows what would be lost.
bool cannotTell(const std::error_code& error) { return error == std::errc::io_error; }

/// Sets `unknown` and is true if nobody can tell.
bool isSame(const std::string& a, const std::string& b, std::error_code& unknown) {
  std::error_code error;
  const auto keep = [&] {
    if (cannotTell(error)) unknown = error;
  };
  const fs::file_status status = fs::status(a, error);
  keep();
  const bool isOther = fs::exists(b, error);
  keep();
  bool isEqual = false;
  if (fs::exists(status) && isOther)
    isEqual = fs::is_regular_file(status) && fs::equivalent(a, b, error);
  else if (!fs::exists(status) && !isOther)
    isEqual =
        fs::weakly_canonical(fs::absolute(a, error), error) == fs::weakly_canonical(fs::absolute(b, error), error);
  keep();
  return isEqual || unknown;
}

}  // namespace

bool isSameFile(const std::string& a, const std::string& b) {
  std::error_code unknown;
  return isSame(a, b, unknown);
}

Status refuseClashes(const CLI::App& app) {
  std::vector<Word> words;
  collect(app, words);
  std::error_code error, unknown;
  for (const Word& output : words)
    for (const Word& other : words) {
      const bool differ =
          output.option != other.option && (other.isOutput || fs::exists(other.file, error) || cannotTell(error));
      if (!output.isOutput || !differ || !isSame(output.file, other.file, unknown)) continue;
      if (unknown)
        return Status::invalidArgument("{}: '{}' may be the file of {} too: {}", output.option->get_name(), output.file,
                                       other.option->get_name(), unknown.message());
      return Status::invalidArgument("{}: '{}' is the file of {} too; it would be lost", output.option->get_name(),
                                     output.file, other.option->get_name());
    }
  return Status::ok();
}

Result<OutputFiles> OutputFiles::plan(const std::string& folder, const std::vector<std::string>& outputs, size_t steps,
                                      const std::vector<std::string>& read) {
  OutputFiles files;
  files.folder_ = folder;
  files.steps_ = steps;
  std::set<std::string> taken;
  for (const std::string& output : outputs)
    if (const std::string stem = stemOf(output); stem == output) files.stems_[output] = stem, taken.insert(stem);
  for (const std::string& output : outputs) {
    const std::string stem = stemOf(output);
    std::string name = stem;
    for (int number = 2; stem != output && !taken.insert(name).second; ++number)
      name = fmt::format("{}_{}", stem, number);
    files.stems_[output] = name;
  }
  for (const auto& [output, stem] : files.stems_)
    for (size_t step = 0; step < steps; ++step)
      for (const char* ending : {".npy", ".pb"}) {
        const std::string target = fmt::format("{}/{}{}", files.folderOf(step), stem, ending);
        if (std::ranges::any_of(read, [&](const std::string& file) { return isSameFile(target, file); }))
          return Status::invalidArgument("--output: '{}' is read too; it would be lost", target);
      }
  return files;
}

std::string OutputFiles::folderOf(size_t step) const {
  return steps_ > 1 ? fmt::format("{}/step_{}", folder_, step) : folder_;
}

Result<std::string> OutputFiles::place(size_t step, const std::string& output) const {
  const std::string folder = folderOf(step);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Status::invalidArgument("cannot make folder '{}': {}", folder, error.message());
  return (fs::path(folder) / stems_.at(output)).string();
}

std::vector<std::pair<std::string, std::string>> OutputFiles::renamed() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [output, stem] : stems_)
    if (output != stem) names.emplace_back(output, stem);
  return names;
}

}  // namespace opkit::cli
