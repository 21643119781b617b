#include "harness/trace/sanitizer.h"

#include <fmt/format.h>
#include <spirv_cross/spirv.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <unordered_map>

#include "engine/backend/vulkan/spirv_facts.h"

namespace opkit::harness {
namespace {

using Kind = AccessSite::Kind;
using Space = AccessSite::Space;

std::string siteName(const AccessSite& site) {
  constexpr const char* kKinds[] = {"load", "store", "atomic", "barrier", "return"};
  const std::string what = site.space == Space::Shared ? (site.name.empty() ? "shared memory" : "shared " + site.name)
                           : site.space == Space::None ? ""
                           : site.name.empty()         ? fmt::format("binding {}", site.binding)
                                                       : fmt::format("binding {} {}", site.binding, site.name);
  const std::string at =
      site.line != 0 ? fmt::format("{}:{}", site.file, site.line) : fmt::format("instruction {}", site.instruction);
  return fmt::format("{}{}{} ({})", kKinds[static_cast<size_t>(site.kind)], what.empty() ? "" : " of ", what, at);
}

bool reads(const AccessSite& site) { return site.kind == Kind::Load || site.kind == Kind::Atomic; }
bool writes(const AccessSite& site) { return site.kind == Kind::Store || site.kind == Kind::Atomic; }

/// The faults found so far, without repetitions.
class Faults {
 public:
  void add(const char* kind, uint32_t first, uint32_t second, std::string text) {
    if (seen_.emplace(kind, first, second).second) list_.push_back({kind, std::move(text)});
  }
  void nextDispatch() { seen_.clear(); }
  /// Races first: they explain reads of what was not written yet.
  std::vector<ShaderFault> take() {
    std::stable_partition(list_.begin(), list_.end(),
                          [](const ShaderFault& fault) { return std::string_view(fault.kind) == "race"; });
    return std::move(list_);
  }

 private:
  std::set<std::tuple<std::string, uint32_t, uint32_t>> seen_;
  std::vector<ShaderFault> list_;
};

/// The bytes of buffers that hold a value.
class Written {
 public:
  void add(uint64_t buffer, size_t first, size_t bytes) {
    std::vector<bool>& marks = buffers_[buffer];
    if (marks.size() < first + bytes) marks.resize(first + bytes);
    std::fill_n(marks.begin() + static_cast<std::ptrdiff_t>(first), bytes, true);
  }
  bool holds(uint64_t buffer, size_t first, size_t bytes) const {
    const auto found = buffers_.find(buffer);
    if (found == buffers_.end() || found->second.size() < first + bytes) return false;
    const auto begin = found->second.begin() + static_cast<std::ptrdiff_t>(first);
    return std::find(begin, begin + static_cast<std::ptrdiff_t>(bytes), false) ==
           begin + static_cast<std::ptrdiff_t>(bytes);
  }

 private:
  std::map<uint64_t, std::vector<bool>> buffers_;
};

/// One invocation at one site.
struct Toucher {
  uint32_t group = UINT32_MAX, invocation = 0, epoch = 0, site = 0;
  bool is() const { return group != UINT32_MAX; }
};

/// The last accesses to one unit of memory, as far as a later one can conflict with them: the last store and atomic,
/// and those of another group; two loads by different invocations, and by different groups.
struct Cell {
  std::array<Toucher, 2> stores, atomics;
  std::array<Toucher, 2> loads, groupLoads;
};

/// The sanitizer for one dispatch. Records come sorted by group and epoch, in the order of execution for each
/// invocation.
class DispatchSanitizer {
 public:
  DispatchSanitizer(const DispatchTrace& trace, const SanitizerParts& parts, Written& written, Faults& faults)
      : trace_(trace),
        parts_(parts),
        written_(written),
        faults_(faults),
        sharedBytes_(vulkan::factsOf(trace.code->spirv, trace.constants).shared) {}

  void run() {
    std::vector<TraceRecord> records(trace_.records.begin(), trace_.records.end());
    std::ranges::stable_sort(records, {}, [](const TraceRecord& r) { return std::pair(r.group, r.epoch); });
    chooseUnits();
    for (size_t first = 0; first < records.size();) {
      size_t end = first;
      while (end < records.size() && records[end].group == records[first].group) ++end;
      runGroup(std::span(records).subspan(first, end - first));
      first = end;
    }
  }

 private:
  const AccessSite& siteOf(const TraceRecord& record) const { return trace_.code->sites[record.site()]; }
  uint32_t bytesOf(const AccessSite& site) const {
    return site.space == Space::Texel ? trace_.bindings[site.binding].texelBytes : site.bytes;
  }
  uint64_t addressOf(const TraceRecord& record, const AccessSite& site) const {
    return site.space == Space::Texel ? uint64_t{record.address} * bytesOf(site) : record.address;
  }

  /// Races are looked for by the smallest unit that is accessed, at most 4 bytes.
  void chooseUnits() {
    for (const AccessSite& site : trace_.code->sites)
      if (site.space == Space::Buffer || site.space == Space::Shared) unit_ = std::min(unit_, site.bytes);
  }

  void runGroup(std::span<const TraceRecord> records) {
    sharedCells_.clear();
    sharedWritten_ = {};
    if (parts_.race) checkBarriers(records);
    for (const TraceRecord& record : records) {
      const AccessSite& site = siteOf(record);
      if (site.kind == Kind::Barrier || site.kind == Kind::Return) continue;
      if (!inBounds(record, site)) continue;
      if (site.space == Space::Image) continue;
      if (parts_.init) checkInit(record, site);
      if (parts_.race) checkRace(record, site);
    }
  }

  std::string where(const TraceRecord& record) const {
    return fmt::format("invocation {} of group {}", record.invocation(), record.group);
  }

  // ---- barriers

  /// Every invocation of the group waits at the same barriers. Fills bufferEpoch_.
  void checkBarriers(std::span<const TraceRecord> records) {
    bufferEpoch_.assign(1, 0);
    for (size_t first = 0; first < records.size();) {
      const uint32_t epoch = records[first].epoch;
      std::map<uint32_t, size_t> waiting;  // by site
      for (; first < records.size() && records[first].epoch == epoch; ++first)
        if (siteOf(records[first]).kind == Kind::Barrier) ++waiting[records[first].site()];
      if (waiting.empty()) continue;
      const auto [site, count] = *waiting.begin();
      const AccessSite& barrier = trace_.code->sites[site];
      if (waiting.size() > 1)
        faults_.add("race", site, std::next(waiting.begin())->first,
                    fmt::format("{}: invocations of group {} wait at different barriers: {} and {}", trace_.shader,
                                records.front().group, siteName(barrier),
                                siteName(trace_.code->sites[std::next(waiting.begin())->first])));
      else if (count != trace_.invocations)
        faults_.add("race", site, site,
                    fmt::format("{}: {} of {} invocations of group {} reach {}", trace_.shader, count,
                                trace_.invocations, records.front().group, siteName(barrier)));
      const bool ordersBuffers = (barrier.semantics & SpvMemorySemanticsUniformMemoryMask) != 0;
      bufferEpoch_.push_back(bufferEpoch_.back() + (ordersBuffers ? 1 : 0));
    }
  }

  uint32_t bufferEpoch(uint32_t epoch) const { return bufferEpoch_[std::min<size_t>(epoch, bufferEpoch_.size() - 1)]; }

  // ---- bounds

  bool inBounds(const TraceRecord& record, const AccessSite& site) {
    uint64_t end = 0, size = 0;
    if (site.space == Space::Image) {
      const TracedBinding& image = trace_.bindings[site.binding];
      const uint32_t x = record.address & 0xFFFF, y = record.address >> 16;
      if ((x < image.columns && y < image.rows) || site.kind == Kind::Load) return true;
      return report(record, site, fmt::format("texel ({}, {}) of {} x {}", x, y, image.columns, image.rows));
    }
    end = addressOf(record, site) + bytesOf(site);
    size = site.space == Space::Shared ? sharedSize(site) : trace_.bindings[site.binding].sizeBytes;
    if (end <= size) return true;
    return report(record, site, fmt::format("byte {} of {}", end - 1, size));
  }

  bool report(const TraceRecord& record, const AccessSite& site, const std::string& what) {
    if (parts_.bounds)
      faults_.add("bounds", record.site(), 0,
                  fmt::format("{}: {} touches {}, {}", trace_.shader, siteName(site), what, where(record)));
    return false;
  }

  uint64_t sharedSize(const AccessSite& site) const {
    const auto found = sharedBytes_.find(site.variable);
    return found == sharedBytes_.end() ? UINT64_MAX : found->second;
  }

  // ---- init

  void checkInit(const TraceRecord& record, const AccessSite& site) {
    const uint64_t address = addressOf(record, site);
    const uint32_t bytes = bytesOf(site);
    const bool shared = site.space == Space::Shared;
    const TracedBinding* binding = shared ? nullptr : &trace_.bindings[site.binding];
    Written& written = shared ? sharedWritten_ : written_;
    const uint64_t memory = shared ? site.variable : binding->buffer;
    const size_t first = shared ? address : binding->offsetBytes + address;
    if (reads(site) && !written.holds(memory, first, bytes))
      faults_.add("init", record.site(), 0,
                  fmt::format("{}: {} reads byte {}, which nothing wrote, {}", trace_.shader, siteName(site), address,
                              where(record)));
    if (writes(site)) written.add(memory, first, bytes);
  }

  // ---- races

  void checkRace(const TraceRecord& record, const AccessSite& site) {
    const uint64_t address = addressOf(record, site);
    const bool shared = site.space == Space::Shared;
    const uint64_t base =
        shared ? uint64_t{site.variable} << 40
               : (trace_.bindings[site.binding].buffer << 44) + trace_.bindings[site.binding].offsetBytes;
    const Toucher now{record.group, record.invocation(), shared ? record.epoch : bufferEpoch(record.epoch),
                      record.site()};
    auto& cells = shared ? sharedCells_ : bufferCells_;
    for (uint64_t unit = (base + address) / unit_; unit <= (base + address + bytesOf(site) - 1) / unit_; ++unit)
      touch(cells[unit], now, site, address);
  }

  static bool conflicts(const Toucher& before, const Toucher& now) {
    return before.is() &&
           (before.group != now.group || (before.invocation != now.invocation && before.epoch == now.epoch));
  }

  void touch(Cell& cell, const Toucher& now, const AccessSite& site, uint64_t address) {
    const auto compare = [&](const std::array<Toucher, 2>& earlier) {
      for (const Toucher& before : earlier)
        if (conflicts(before, now)) reportRace(before, now, site, address);
    };
    compare(cell.stores);
    if (site.kind != Kind::Atomic) compare(cell.atomics);
    if (site.kind == Kind::Load) {
      remember(cell.loads, now, now.invocation != cell.loads[0].invocation);
      remember(cell.groupLoads, now, now.group != cell.groupLoads[0].group);
      return;
    }
    compare(cell.loads);
    compare(cell.groupLoads);
    auto& mine = site.kind == Kind::Atomic ? cell.atomics : cell.stores;
    remember(mine, now, now.group != mine[0].group);
  }

  /// Keeps two that differ; those of an earlier epoch or group make room.
  static void remember(std::array<Toucher, 2>& kept, const Toucher& now, bool differs) {
    if (!kept[0].is())
      kept[0] = now;
    else if (differs)
      kept[1] = std::exchange(kept[0], now);
    else
      kept[0] = now;
  }

  void reportRace(const Toucher& before, const Toucher& now, const AccessSite& site, uint64_t address) {
    const AccessSite& other = trace_.code->sites[before.site];
    const std::string who = before.group != now.group ? fmt::format("groups {} and {}", before.group, now.group)
                                                      : fmt::format("invocations {} and {} of group {}",
                                                                    before.invocation, now.invocation, now.group);
    faults_.add("race", std::min(before.site, now.site), std::max(before.site, now.site),
                fmt::format("{}: {} and {} meet at byte {}: {}, no barrier between", trace_.shader, siteName(other),
                            siteName(site), address, who));
  }

  const DispatchTrace& trace_;
  const SanitizerParts& parts_;
  Written& written_;
  Faults& faults_;
  std::map<uint32_t, size_t> sharedBytes_;
  uint32_t unit_ = 4;
  std::vector<uint32_t> bufferEpoch_ = {0};
  Written sharedWritten_;
  std::unordered_map<uint64_t, Cell> sharedCells_, bufferCells_;
};

}  // namespace

Result<SanitizerParts> SanitizerParts::parse(const std::string& text) {
  SanitizerParts parts;
  const std::map<std::string, bool*> known = {
      {"race", &parts.race}, {"bounds", &parts.bounds}, {"init", &parts.init}, {"loops", &parts.loops}};
  const Status wrong =
      Status::invalidArgument("expected race, bounds, init and loops, separated by commas, got '{}'", text);
  if (text.empty()) return wrong;
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, ',');) {
    const auto part = known.find(name);
    if (part == known.end()) return wrong;
    *part->second = true;
  }
  return parts;
}

Result<std::vector<ShaderFault>> sanitize(const std::vector<DispatchTrace>& dispatches,
                                          const std::vector<TracedWrite>& written, const SanitizerParts& parts) {
  Written holds;
  for (const TracedWrite& write : written) holds.add(write.buffer, write.offsetBytes, write.sizeBytes);
  Faults faults;
  for (const DispatchTrace& dispatch : dispatches) {
    if (!dispatch.code->refusal.empty()) return Status::unsupported("{}", dispatch.code->refusal);
    if (!dispatch.isWhole())
      return Status::unsupported("{}: too large to be traced whole: {} accesses in {} of {} groups", dispatch.shader,
                                 dispatch.wanted, dispatch.groupsTraced, dispatch.groups);
    faults.nextDispatch();
    DispatchSanitizer(dispatch, parts, holds, faults).run();
  }
  return faults.take();
}

}  // namespace opkit::harness
