#include "reports/ops_page/ops_table.h"

#include <algorithm>
#include <cmath>

#include "reports/history/adder.h"
#include "reports/ops_page/numeric_names.h"
#include "reports/ops_page/ops_words.h"
#include "reports/results/kernel_names.h"
#include "reports/results/main_input.h"

namespace opkit::reports {
namespace {

constexpr const char* kNoDType = "-";  // of a case without inputs
/// Timed entries that move less say how long a call takes, not how fast a kernel is.
constexpr double kLeastBytes = 64 << 10;

/// False for cases of bad input, stored shapes, and for the notice about a kernel that no case runs.
bool isOperatorCase(const CaseRecord& record) {
  return !record.id.starts_with("error:") && !record.id.starts_with("shapes:") && !record.id.starts_with("kernel:") &&
         !record.id.starts_with("margin:");
}

std::string marginText(double margin) { return std::isfinite(margin) ? fmt::format("{:.2g}", margin) : "nan"; }

/// The dtypes that a node of the operator may have: those of its main input, else of the first output.
DTypeSet dtypesOf(const OpDef& def) {
  if (!def.inputs.empty()) return def.inputs[mainInput(def)].dtypes;
  return def.outputs.empty() ? DTypeSet() : def.outputs[0].dtypes;
}

OpsEntry entryOf(const OpRegistry& registry, const OpDef& def, const std::vector<std::string>& backends) {
  OpsEntry entry{.errorClass = nameOf(def.numeric), .folder = def.folder, .cells = {}, .idle = {}};
  for (int value = 0; value <= UINT8_MAX; ++value)
    if (isValidDType(value) && dtypesOf(def).contains(static_cast<DType>(value)))
      entry.cells[nameOf(static_cast<DType>(value))];
  for (const std::string& backend : backends) {
    const std::vector<std::string> names = kernelNames(registry, backend, def);
    entry.idle[backend] = {names.begin(), names.end()};
  }
  return entry;
}

/// "the kernel takes 1 or 2 axes" of "Conv: images hold ..., got f32[1]; Conv: the kernel takes 1 or 2 axes, got 3":
/// the most general kernel comes last, and what follows the limit is of one case.
std::string shortReason(const CaseRecord& record) {
  std::string text = record.reason;
  const std::string prefix = record.op + ": ";
  if (const size_t last = text.rfind("; " + prefix); last != std::string::npos) text = text.substr(last + 2);
  if (text.starts_with(prefix)) text = text.substr(prefix.size());
  return text.substr(0, std::min(text.find(", got "), text.find(", the kernel needs ")));
}

/// "op-harness check --written": without the file of the results, which says nothing.
std::string commandOf(const RunRecord& run) {
  std::string text = run.command;
  if (const size_t begin = text.find(" --json"); begin != std::string::npos) {
    const size_t end = text.find(' ', begin + 8);
    text.erase(begin, end == std::string::npos ? end : end - begin);
  }
  return "op-harness " + text;
}

/// Fills a table from results, line by line.
class TableFiller {
 public:
  TableFiller(const Results& results, const OpRegistry& registry) : results_(results), registry_(registry) {}

  Result<OpsTable> fill() {
    OPKIT_TRY(chooseRuns());
    OPKIT_TRY(chooseDevices());
    for (const CaseRecord* record : results_.ofKind("check"))
      if (isChosen(*record)) addCase(*record);
    for (const char* kind : {"roof", "bench"})
      for (const CaseRecord* record : results_.ofKind(kind))
        if (isChosen(*record)) addRate(*record);
    addMargins();
    addRefusals();
    return std::move(table_);
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // operator, dtype, backend

  /// Runs with the options of the first one that checked operators: a page shows one configuration.
  Status chooseRuns() {
    std::set<std::string> checked;
    for (const CaseRecord* record : results_.ofKind("check")) checked.insert(record->run);
    const auto first =
        std::ranges::find_if(results_.runs, [&](const Run& run) { return checked.contains(run.facts.run); });
    if (first == results_.runs.end())
      return Status::invalidArgument("expected results of `op-harness check --json`, found none");
    table_.options = deviceOptions(first->facts.command);
    table_.build = fmt::format("{}, {}", first->facts.compiler, first->facts.build);
    table_.missing = results_.missing();
    std::set<std::string> shown = checked;  // other kinds of runs (access) may model another device
    for (const char* kind : {"roof", "bench"})
      for (const CaseRecord* record : results_.ofKind(kind)) shown.insert(record->run);
    for (const Run& run : results_.runs)
      if (shown.contains(run.facts.run) && deviceOptions(run.facts.command) == table_.options)
        chosen_.insert(run.facts.run);
    std::set<std::string> backends;
    for (const CaseRecord* record : results_.ofKind("check"))
      if (chosen_.contains(record->run)) backends.insert(record->backend);
    backends_ = {backends.begin(), backends.end()};
    table_.operators = tableOfBuild(registry_, backends_).operators;
    for (const CaseRecord* record : results_.ofKind("check"))
      if (chosen_.contains(record->run) && isOperatorCase(*record) && !registry_.find(record->op))
        return Status::invalidArgument(
            "operator '{}' is not in this build: give results of this build, or --plugin for an operator of a plugin",
            record->op);
    return Status::ok();
  }

  Status chooseDevices() {
    for (const std::string& backend : backends_)
      table_.devices.push_back({.backend = backend, .name = {}, .driver = {}});
    for (const DeviceRecord& record : results_.devices) {
      const auto device = std::ranges::find(table_.devices, record.backend, &OpsDevice::backend);
      if (!chosen_.contains(record.run) || device == table_.devices.end()) continue;
      const OpsDevice found{record.backend, record.name, record.driver, record.software};
      if (!device->name.empty() && !device->isSame(found))
        return Status::invalidArgument("results of two devices for backend {}, expected one: {}, {} and {}, {}",
                                       record.backend, device->name, device->driver, found.name, found.driver);
      *device = found;
    }
    for (OpsDevice& device : table_.devices)
      device.roof = std::ranges::any_of(results_.ofKind("roof"), [&](const CaseRecord* record) {
        return record->backend == device.backend && chosen_.contains(record->run);
      });
    return Status::ok();
  }

  bool isChosen(const CaseRecord& record) const {
    return chosen_.contains(record.run) && table_.device(record.backend) && isOperatorCase(record);
  }
  OpsCell& cellOf(const CaseRecord& record) {
    if (used_.insert(record.run).second)
      for (const Run& run : results_.runs)
        if (run.facts.run == record.run) addRun(run.facts);
    return table_.operators[record.op].cells[record.dtype.empty() ? kNoDType : record.dtype][record.backend];
  }

  void addRun(const RunRecord& run) {
    const OpsRun shown{"`" + commandOf(run) + "`", run.commit.substr(0, 12) + (run.dirty ? ", with local changes" : ""),
                       run.started.substr(0, 10)};
    if (std::ranges::find(table_.runs, shown) == table_.runs.end()) table_.runs.push_back(shown);
  }

  void addCase(const CaseRecord& record) {
    OpsCell& cell = cellOf(record);
    const Key key{record.op, record.dtype, record.backend};
    if (record.status == CaseStatus::Unsupported) {
      ++cell.refused;
      ++reasons_[key][shortReason(record)];
    }
    if (record.status == CaseStatus::Unsupported || record.status == CaseStatus::Skip) return;
    ++cell.ran;
    cell.failed += isFailure(record.status);
    if (!record.provider.empty()) {
      const OpDef* def = registry_.find(record.op);
      const std::string name = def && def->decompose ? "parts" : kernelName(record.provider, record.kernel);
      cell.kernels.insert(name);
      table_.operators[record.op].idle[record.backend].erase(name);
    }
    if (record.status == CaseStatus::Unproved) return;
    double& worst = margins_.try_emplace(key, 0.0).first->second;
    const double margin = record.accuracy ? record.accuracy->margin : 0;
    if (std::isnan(margin) || margin > worst) worst = margin;  // NaN stays
  }

  /// A backend with lines of `bench --roof` takes these, on one thread; the others take the device's time, else the
  /// host's.
  void addRate(const CaseRecord& record) {
    const OpDef* def = registry_.find(record.op);
    const bool isRoof = record.kind == "roof";
    if (!def || !isExecuted(record.status) || isRoof != table_.device(record.backend)->roof || record.threads > 1)
      return;
    double ns = 0;
    for (const char* name : {"executeWall", "executeDevice", "executeKernel"}) {
      const auto found = record.times.find(name);
      if (found == record.times.end()) continue;
      if (const double taken = isRoof ? found->second.min : found->second.median; taken > 0) ns = taken;
    }
    const double amount = (def->numeric == NumericClass::Products ? record.flops : record.bytes).value_or(0);
    if (!(ns > 0) || !(amount > 0) || record.bytes.value_or(0) < kLeastBytes) return;
    OpsCell& cell = cellOf(record);
    cell.rate = std::max(cell.rate, amount / ns);
  }

  void addMargins() {
    for (const auto& [key, margin] : margins_) {
      const auto& [op, dtype, backend] = key;
      table_.operators[op].cells[dtype.empty() ? kNoDType : dtype][backend].margin = marginText(margin);
    }
  }

  /// Of each cell the reason of most of its cases; dtypes with the same reason are one refusal.
  void addRefusals() {
    struct Counts {
      std::vector<std::string> dtypes;
      size_t refused = 0, of = 0;
    };
    std::map<std::tuple<std::string, std::string, std::string, bool>, Counts> refusals;
    for (const auto& [key, counts] : reasons_) {
      const auto& [op, dtype, backend] = key;
      const std::string shown = dtype.empty() ? kNoDType : dtype;
      const auto most = std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
      const OpsCell& cell = table_.operators[op].cells[shown][backend];
      Counts& sum = refusals[{backend, op, most->first, cell.ran > 0}];
      sum.dtypes.push_back(shown);
      sum.refused += cell.refused;
      sum.of += cell.ran + cell.refused;
    }
    for (const auto& [key, sum] : refusals) {
      const auto& [backend, op, reason, isPart] = key;
      const std::string dtypes = words::join(words::sorted(sum.dtypes));
      table_.refusals.push_back({backend, op, dtypes, reason, isPart ? sum.refused : 1, isPart ? sum.of : 1});
    }
  }

  const Results& results_;
  const OpRegistry& registry_;
  OpsTable table_;
  std::vector<std::string> backends_;
  std::set<std::string> chosen_, used_;  // runs
  std::map<Key, double> margins_;
  std::map<Key, std::map<std::string, size_t>> reasons_;
};

}  // namespace

std::set<std::string> OpsEntry::kernels(const std::string& backend) const {
  std::set<std::string> all;
  if (const auto found = idle.find(backend); found != idle.end()) all = found->second;
  for (const auto& [dtype, byBackend] : cells)
    if (const auto found = byBackend.find(backend); found != byBackend.end())
      all.insert(found->second.kernels.begin(), found->second.kernels.end());
  return all;
}

const OpsDevice* OpsTable::device(const std::string& backend) const {
  const auto found = std::ranges::find(devices, backend, &OpsDevice::backend);
  return found == devices.end() ? nullptr : &*found;
}

size_t OpsTable::ran() const {
  size_t sum = 0;
  for (const auto& [op, entry] : operators)
    for (const auto& [dtype, byBackend] : entry.cells)
      for (const auto& [backend, cell] : byBackend) sum += cell.ran;
  return sum;
}

OpsTable tableOfBuild(const OpRegistry& registry, const std::vector<std::string>& backends) {
  OpsTable table;
  for (const std::string& backend : backends) table.devices.push_back({.backend = backend, .name = {}, .driver = {}});
  for (const OpDef* def : registry.all()) table.operators[def->type] = entryOf(registry, *def, backends);
  return table;
}

Result<OpsTable> tableOfResults(const Results& results, const OpRegistry& registry) {
  return TableFiller(results, registry).fill();
}

}  // namespace opkit::reports
