#include "reports/ops_page/ops_differences.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "reports/ops_page/ops_words.h"

namespace opkit::reports {
namespace {

/// Margins on two processors, drivers or builds may differ by this share of the bound. On one machine AVX2 instead of
/// AVX-512 changed 1 of 643 margins of the CPU (by 0.001), SSE4 changed 14 of those that pass, by 0.15 at most: a
/// margin of f64 has steps of an eighth.
constexpr double kMarginStep = 0.2;

std::string listed(const std::set<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string providerOf(const std::string& kernel) { return kernel.substr(0, kernel.find('/')); }

class PageComparer {
 public:
  PageComparer(const OpsTable& page, const OpsTable& other) : page_(page), other_(other) {}

  OpsDifferences withBuild() {
    for (const OpsDevice& device : page_.devices)
      if (!other_.device(device.backend)) note("backend {} is not in this build: not compared", device.backend);
    for (const OpsDevice& device : other_.devices)
      if (!page_.device(device.backend)) add("backend {}: in this build, not in the page", device.backend);
    for (const auto& [op, entry] : other_.operators)
      if (!page_.operators.contains(op)) add("{}: in this build, not in the page", op);
    for (const auto& [op, entry] : page_.operators) {
      const auto found = other_.operators.find(op);
      if (found == other_.operators.end())
        add("{}: in the page, not in this build", op);
      else
        compareCards(op, entry, found->second);
    }
    return std::move(found_);
  }

  OpsDifferences withRun() {
    if (page_.build != other_.build) note("the run's build is {}, the page's {}", other_.build, page_.build);
    for (const OpsDevice& device : other_.devices) {
      const OpsDevice* shown = page_.device(device.backend);
      if (!shown || shown->isSame(device)) continue;
      note("{}: the run's device is {}, {}, the page's {}, {}{}", device.backend, device.name, device.driver,
           shown->name, shown->driver, sameKernels(*shown, device) ? "" : ": its cells are not compared");
    }
    for (const auto& [op, entry] : other_.operators) {
      const auto shown = page_.operators.find(op);
      if (shown == page_.operators.end()) continue;  // compareWithBuild says so
      for (const auto& [dtype, byBackend] : entry.cells)
        for (const auto& [backend, cell] : byBackend)
          if (!cell.empty())
            compareCells(fmt::format("{} {} on {}", op, dtype, backend), backend, shown->second, dtype, cell);
    }
    return std::move(found_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    found_.lines.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    const std::string text = fmt::format(format, std::forward<Args>(args)...);
    if (std::ranges::find(found_.notes, text) == found_.notes.end()) found_.notes.push_back(text);
  }

  void compareCards(const std::string& op, const OpsEntry& shown, const OpsEntry& card) {
    if (shown.errorClass != card.errorClass)
      add("{}: the error class is {}, the page has {}", op, card.errorClass, shown.errorClass);
    if (shown.folder != card.folder) add("{}: the folder is {}, the page has {}", op, card.folder, shown.folder);
    const std::string dtypes = words::join(words::sorted(card.cells)), onPage = words::join(words::sorted(shown.cells));
    if (dtypes != onPage) add("{}: the dtypes are {}, the page has {}", op, dtypes, onPage);
    for (const OpsDevice& device : page_.devices)
      if (other_.device(device.backend)) compareKernels(op, device.backend, shown, card);
  }

  void compareKernels(const std::string& op, const std::string& backend, const OpsEntry& shown, const OpsEntry& card) {
    static const std::set<std::string> withoutKernel = {"raster", "folded", "control", "reference"};
    const std::set<std::string> has = card.kernels(backend), onPage = shown.kernels(backend);
    for (const std::string& kernel : has)
      if (!onPage.contains(kernel))
        add("{} on {}: this build has the kernel {}, the page has not", op, backend, kernel);
    for (const std::string& kernel : onPage) {
      if (has.contains(kernel) || withoutKernel.contains(kernel)) continue;
      if (const std::string provider = providerOf(kernel); provider != "opkit" && !providers().contains(provider))
        note("provider {} is not in this build: its kernels are not compared", provider);
      else
        add("{} on {}: the page has the kernel {}, this build has not", op, backend, kernel);
    }
  }

  /// Those of all kernels of the other table.
  const std::set<std::string>& providers() {
    if (providers_.empty())
      for (const auto& [op, entry] : other_.operators)
        for (const OpsDevice& device : other_.devices)
          for (const std::string& kernel : entry.kernels(device.backend)) providers_.insert(providerOf(kernel));
    return providers_;
  }

  /// True if the same kernels are chosen on both: the CPU's do not depend on the processor, those of a GPU on its
  /// class.
  static bool sameKernels(const OpsDevice& shown, const OpsDevice& device) {
    return device.backend == "cpu" || (shown.software && device.software) || shown.isSame(device);
  }

  void compareCells(const std::string& where, const std::string& backend, const OpsEntry& shown,
                    const std::string& dtype, const OpsCell& ran) {
    const OpsDevice *onPage = page_.device(backend), *device = other_.device(backend);
    if (!onPage) return;
    const auto byBackend = shown.cells.find(dtype);
    const bool isShown = byBackend != shown.cells.end() && byBackend->second.contains(backend);
    if (!isShown || byBackend->second.at(backend).empty())
      return add("{}: cases ran, the page says that there are none", where);
    const OpsCell& cell = byBackend->second.at(backend);
    if (ran.failed > 0 && cell.failed == 0) add("{}: {} cases failed", where, ran.failed);
    if (!sameKernels(*onPage, *device)) return;
    if (cell.kernels != ran.kernels)
      add("{}: kernels {} ran, the page has {}", where, listed(ran.kernels), listed(cell.kernels));
    if ((cell.refused > 0) != (ran.refused > 0))
      add("{}: {}", where,
          ran.refused > 0 ? "cases were refused, the page says none" : "no case was refused, the page says some");
    const bool isSame = onPage->isSame(*device) && page_.options == other_.options && page_.build == other_.build;
    if (!agree(cell.margin, ran.margin, isSame))
      add("{}: the margin is {}, the page has {}", where, ran.margin, cell.margin);
  }

  static bool agree(const std::string& shown, const std::string& ran, bool isSame) {
    if (shown == ran || shown.empty() || ran.empty()) return shown == ran || !isSame;
    if (isSame) return false;
    const double a = std::strtod(shown.c_str(), nullptr), b = std::strtod(ran.c_str(), nullptr);
    return std::isfinite(a) && std::isfinite(b) && std::fabs(a - b) <= kMarginStep;
  }

  const OpsTable& page_;
  const OpsTable& other_;
  OpsDifferences found_;
  std::set<std::string> providers_;
};

}  // namespace

OpsDifferences compareWithBuild(const OpsTable& page, const OpsTable& build) {
  return PageComparer(page, build).withBuild();
}

OpsDifferences compareWithRun(const OpsTable& page, const OpsTable& run) { return PageComparer(page, run).withRun(); }

}  // namespace opkit::reports
