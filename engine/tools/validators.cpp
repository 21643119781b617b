#include "engine/tools/validators.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "engine/base/checked_file.h"

namespace opkit::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHistoryMagic("SQLite format 3\0", 16);
constexpr double kYear = 365.0 * 24 * 3600;

/// The whole text as a number.
template <class T>
bool parse(const std::string& text, T& number) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

/// A validator that changes nothing; `wrong` returns the error, or "".
CLI::Validator validator(std::function<std::string(const std::string&)> wrong, const std::string& description = "") {
  return CLI::Validator([wrong = std::move(wrong)](std::string& text) { return wrong(text); }, description);
}

/// The reason why nothing can be created in `folder`; "" if it can.
std::string unwritableFolder(const fs::path& folder) {
  std::error_code error;
  const fs::path place = folder.empty() ? fs::path(".") : folder;
  const fs::file_status status = fs::status(place, error);
  if (status.type() == fs::file_type::none) return fmt::format("'{}': {}", place.string(), error.message());
  if (!fs::exists(status)) return fmt::format("there is no folder '{}'", place.string());
  if (!fs::is_directory(status)) return fmt::format("'{}' is not a folder", place.string());
  return access(place.c_str(), W_OK | X_OK) == 0 ? "" : fmt::format("'{}': {}", place.string(), std::strerror(errno));
}

/// False, with errno set, for a device that is not there, as /dev/tty without a terminal. Other files are not opened.
bool opens(const fs::file_status& status, const std::string& path) {
  if (!fs::is_character_file(status)) return true;
  return Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)).isOpen();
}

std::string unwritableFile(const std::string& path, bool inPlace) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (path.empty()) return "expected a file, got an empty text";
  if (status.type() == fs::file_type::none) return fmt::format("cannot write '{}': {}", path, error.message());
  if (fs::is_directory(status)) return fmt::format("cannot write '{}': it is a folder, not a file", path);
  if (fs::is_socket(status)) return fmt::format("cannot write '{}': it is a socket, not a file", path);
  const bool special = fs::exists(status) && !fs::is_regular_file(status);  // /dev/stdout, a pipe
  if (fs::exists(status) && (inPlace || special) && (access(path.c_str(), W_OK) != 0 || !opens(status, path)))
    return fmt::format("cannot write '{}': {}", path, std::strerror(errno));
  if (special || (fs::exists(status) && (inPlace || namesDescriptor(path)))) return "";
  const Result<std::string> place = placeOf(path);
  if (!place) return place.error().message();
  constexpr size_t kEnding = 12, kLongestName = 255;  // of the file that is written first: PendingFile
  if (fs::path(*place).filename().string().size() + kEnding > kLongestName)
    return fmt::format("cannot write '{}': {}", path, std::strerror(ENAMETOOLONG));
  const std::string why = unwritableFolder(fs::path(*place).parent_path());
  return why.empty() ? "" : fmt::format("cannot write '{}': {}", path, why);
}

/// The first bytes of a regular file; "" of another one, or of none. An error, with errno set, if nobody can tell what
/// would be lost.
std::optional<std::string> headOf(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return errno == ENOENT ? std::optional(std::string()) : std::nullopt;
  if (!S_ISREG(facts.st_mode)) return "";
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string head(kHistoryMagic.size(), '\0');
  const ssize_t size = file.isOpen() ? ::read(file.get(), head.data(), head.size()) : -1;
  if (size < 0) return std::nullopt;
  head.resize(static_cast<size_t>(size));
  return head;
}

std::string unwritableWhole(const std::string& path) {
  const std::string why = unwritableFile(path, false);
  if (!why.empty()) return why;
  const std::optional<std::string> head = headOf(path);
  if (!head) return fmt::format("cannot look at '{}', which would be replaced: {}", path, std::strerror(errno));
  if (*head != kHistoryMagic) return "";
  return fmt::format("cannot write '{}': it is an SQLite database, which would be lost", path);
}

std::string unwritableNewFolder(const std::string& path) {
  std::error_code error;
  if (path.empty()) return "expected a folder, got an empty text";
  fs::path nearest = fs::absolute(path, error);
  while (!fs::exists(nearest, error) && nearest != nearest.parent_path()) nearest = nearest.parent_path();
  const std::string why = unwritableFolder(nearest);
  return why.empty() ? "" : fmt::format("cannot write to '{}': {}", path, why);
}

/// 1024 to the power of the unit; 0 for an unknown unit.
double unitOf(const std::string& unit) {
  constexpr const char* kUnits[][2] = {{"", "b"}, {"k", "kb"}, {"m", "mb"}, {"g", "gb"}, {"t", "tb"}};
  double factor = 1;
  for (const auto& [letter, whole] : kUnits) {
    if (unit == letter || unit == whole) return factor;
    factor *= 1024;
  }
  return 0;
}

constexpr const char* kSeveralName = "several";

bool takesSeveral(CLI::Option& option) {
  try {
    return option.get_validator(kSeveralName) != nullptr;
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

std::string toBytes(std::string& text) {
  const std::string wrong = fmt::format("expected a size such as 64MB, got '{}'", text);
  double amount = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (parsed.ec != std::errc()) return wrong;
  const std::string unit = CLI::detail::to_lower(text.substr(static_cast<size_t>(parsed.ptr - text.data())));
  const double factor = unitOf(unit), bytes = amount * factor;
  constexpr double kMost = 0x1p60;
  if (factor == 0 || !(bytes >= 0 && bytes <= kMost) || (bytes < 1 && amount != 0)) return wrong;
  text = std::to_string(static_cast<uint64_t>(bytes));
  return "";
}

}  // namespace

CLI::Validator wholeNumber(uint64_t least, uint64_t most) {
  const std::string range =
      most == UINT64_MAX ? fmt::format("of {} or more", least) : fmt::format("from {} to {}", least, most);
  return validator(
      [=](const std::string& text) -> std::string {
        uint64_t number = 0;
        const bool ok = parse(text, number) && number >= least && number <= most;
        return ok ? "" : fmt::format("expected a whole number {}, got '{}'", range, text);
      },
      most == UINT64_MAX ? "" : fmt::format("{}-{}", least, most));
}

CLI::Validator finiteNumber(double least, double most) {
  const std::string range = least == -DBL_MAX && most == DBL_MAX ? ""
                            : most == DBL_MAX                    ? fmt::format(" of {} or more", least)
                                                                 : fmt::format(" from {} to {}", least, most);
  return validator([=](const std::string& text) -> std::string {
    double number = 0;
    const bool ok = parse(text, number) && std::isfinite(number) && number >= least && number <= most;
    return ok ? "" : fmt::format("expected a number{}, got '{}'", range, text);
  });
}

CLI::Validator seconds() { return finiteNumber(0.001, kYear); }

CLI::Validator sizeValue() { return CLI::Validator(toBytes, ""); }

CLI::Validator outputFile() {
  return validator([](const std::string& path) { return unwritableWhole(path); }).name(kOutputName);
}

CLI::Validator appendedFile() {
  return validator([](const std::string& path) -> std::string {
           const std::string why = unwritableFile(path, true);
           const bool isStream = path.starts_with("/dev/") || path.starts_with("/proc/");
           const std::optional<std::string> head = why.empty() && !isStream ? headOf(path) : "";
           if (!head) return fmt::format("cannot append to '{}': {}", path, std::strerror(errno));
           return head->empty() || head->front() == '{' || head->front() == '\n'
                      ? why
                      : fmt::format("cannot append to '{}': expected a file of JSON lines", path);
         })
      .name(kOutputName);
}

CLI::Validator changedFile() {
  return validator([](const std::string& path) { return unwritableFile(path, false); }).name(kOutputName);
}

CLI::Validator completedFile() {
  return validator([](const std::string& path) { return unwritableFile(path, false); });
}

CLI::Validator outputFolder() { return validator(unwritableNewFolder); }

CLI::Validator severalValues() {
  return validator([](const std::string&) { return std::string(); }).name(kSeveralName);
}

CLI::Validator existingFile() {
  return validator(
      [](const std::string& path) -> std::string {
        const std::string why = whyUnreadable(path);
        return why.empty() ? "" : fmt::format("cannot read '{}': {}", path, why);
      },
      "FILE");
}

CLI::Validator existingFolder() {
  return validator([](const std::string& path) -> std::string {
    std::error_code error;
    if (fs::is_directory(path, error)) return "";
    return fs::exists(path, error) ? fmt::format("'{}' is not a folder", path)
                                   : fmt::format("there is no folder '{}'", path);
  });
}

void checkValues(CLI::App& app) {
  const CLI::Validator notEmpty =
      validator([](const std::string& text) { return text.empty() ? "expected a value, got an empty text" : ""; });
  for (CLI::Option* option :
       app.get_options([](const CLI::Option* each) { return each->get_items_expected_max() > 0; })) {
    // One value each time: with more, an option would take the operands that follow it.
    if (!option->get_positional() && !takesSeveral(*option)) option->allow_extra_args(false);
    const std::string type = option->get_type_name();
    if (type.starts_with("UINT"))
      option->check(wholeNumber());
    else if (type.starts_with("FLOAT"))
      option->check(finiteNumber());
    else
      option->check(notEmpty);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) checkValues(*command);
}

Status checkOutputFile(const std::string& path) {
  const std::string why = unwritableWhole(path);
  return why.empty() ? Status::ok() : Status::invalidArgument("{}", why);
}

}  // namespace opkit::cli
