// Names for return addresses.
#include <algorithm>
#include <array>
#include <sstream>

#include <unistd.h>

#include "engine/base/child_process.h"
#include "harness/allocations/refusals.h"

namespace opkit::harness {
namespace {

constexpr size_t kMostNames = 5;

/// Functions that say nothing about the place: the instrument, the standard library and wrappers.
bool isOrdinary(const std::string& name) {
  constexpr std::array kBegins{"opkit::harness::", "operator new", "std::", "fmt::", "__gnu_cxx::", "void std::", "??"};
  return std::ranges::any_of(kBegins, [&](const char* begin) { return name.starts_with(begin); });
}

std::string withoutArguments(const std::string& name) {
  const size_t hidden = name.find("(anonymous namespace)::");
  if (hidden != std::string::npos) return withoutArguments(name.substr(0, hidden) + name.substr(hidden + 23));
  return name.substr(0, name.find('('));
}

}  // namespace

std::string describe(const RefusedPlace& place) {
  std::vector<std::string> command{"addr2line", "-fC", "-e", "/proc/self/exe"};
  for (size_t i = 0; i < place.count; ++i) command.push_back(fmt::format("{:#x}", place.offsets[i] - 1));
  command[3] = fmt::format("/proc/{}/exe", ::getpid());
  const auto run = runChild(command);
  if (!run || run->exitCode != 0) return fmt::format("{}", fmt::join(command.begin() + 4, command.end(), " "));
  std::istringstream lines(run->output);
  std::vector<std::string> names;
  for (std::string name, file; std::getline(lines, name) && std::getline(lines, file) && names.size() < kMostNames;)
    if (!isOrdinary(name)) names.push_back(withoutArguments(name));
  return fmt::format("{}", fmt::join(names, " < "));
}

}  // namespace opkit::harness
