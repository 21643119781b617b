#include "harness/trace/access_profile.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace opkit::harness {
namespace {

using Space = AccessSite::Space;
using Kind = AccessSite::Kind;

bool isMemory(const AccessSite& site) { return site.space == Space::Buffer || site.space == Space::Texel; }

/// The bytes of one subgroup access: address of each lane, all of the same size.
struct TracedAccess {
  std::vector<uint64_t> addresses;
  uint32_t bytes = 0;
};

/// Distinct bytes and sectors.
void countMemory(TracedAccess& access, AccessCounts& counts) {
  std::ranges::sort(access.addresses);
  uint64_t end = 0, sectorsEnd = 0;
  for (const uint64_t first : access.addresses) {
    const uint64_t from = std::max(first, end), last = first + access.bytes;
    if (last > from) counts.usedBytes += static_cast<double>(last - from);
    end = std::max(end, last);
    const uint64_t sector = std::max(first / kSectorBytes, sectorsEnd);
    const uint64_t after = (last - 1) / kSectorBytes + 1;
    if (after > sector) counts.sectors += static_cast<double>(after - sector);
    sectorsEnd = std::max(sectorsEnd, after);
  }
}

/// Passes of shared memory: the lanes are served in phases of at most 128 bytes; a phase takes as many passes as the
/// busiest bank has distinct words.
void countBanks(const TracedAccess& access, AccessCounts& counts) {
  const size_t lanes = std::max<size_t>(kBanks * kBankBytes / std::max(access.bytes, kBankBytes), 1);
  for (size_t first = 0; first < access.addresses.size(); first += lanes) {
    std::set<uint64_t> words;
    for (size_t lane = first; lane < std::min(first + lanes, access.addresses.size()); ++lane)
      for (uint64_t word = access.addresses[lane] / kBankBytes;
           word <= (access.addresses[lane] + access.bytes - 1) / kBankBytes; ++word)
        words.insert(word);
    std::array<uint32_t, kBanks> busy{};
    for (const uint64_t word : words) ++busy[word % kBanks];
    counts.phases += 1;
    counts.passes += *std::ranges::max_element(busy);
  }
}

/// Counts the records of one site in one group, sorted by lane, in the order of execution for each lane.
class SiteCounter {
 public:
  SiteCounter(const DispatchTrace& trace, const AccessSite& site, uint32_t width)
      : site_(site), width_(width), binding_(bindingOf(trace, site)) {}

  void count(std::span<const TraceRecord> records, AccessCounts& counts) {
    for (size_t first = 0; first < records.size();) {
      const uint32_t subgroup = records[first].invocation() / width_;
      size_t end = first;
      while (end < records.size() && records[end].invocation() / width_ == subgroup) ++end;
      countSubgroup(records.subspan(first, end - first), counts);
      first = end;
    }
  }

  uint64_t address(const TraceRecord& record) const {
    return binding_.offsetBytes + (site_.space == Space::Texel ? uint64_t{record.address} * bytes() : record.address);
  }
  uint32_t bytes() const { return site_.space == Space::Texel ? binding_.texelBytes : site_.bytes; }
  const TracedBinding& binding() const { return binding_; }

 private:
  static TracedBinding bindingOf(const DispatchTrace& trace, const AccessSite& site) {
    return site.space != Space::Shared && site.binding < trace.bindings.size() ? trace.bindings[site.binding]
                                                                               : TracedBinding{};
  }

  void countSubgroup(std::span<const TraceRecord> records, AccessCounts& counts) {
    starts_.clear();
    for (size_t i = 0; i < records.size(); ++i)
      if (i == 0 || records[i].invocation() != records[i - 1].invocation()) starts_.push_back(i);
    starts_.push_back(records.size());
    size_t longest = 0;
    for (size_t lane = 0; lane + 1 < starts_.size(); ++lane)
      longest = std::max(longest, starts_[lane + 1] - starts_[lane]);
    for (size_t turn = 0; turn < longest; ++turn) {
      access_.bytes = bytes();
      access_.addresses.clear();
      for (size_t lane = 0; lane + 1 < starts_.size(); ++lane)
        if (starts_[lane] + turn < starts_[lane + 1])
          access_.addresses.push_back(address(records[starts_[lane] + turn]));
      add(counts);
    }
  }

  void add(AccessCounts& counts) {
    counts.accesses += 1;
    counts.lanes += static_cast<double>(access_.addresses.size());
    if (site_.space == Space::Image)
      counts.imageTexels += static_cast<double>(access_.addresses.size());
    else if (site_.space == Space::Shared)
      countBanks(access_, counts);
    else
      countMemory(access_, counts);
  }

  const AccessSite& site_;
  uint32_t width_;
  TracedBinding binding_;
  std::vector<size_t> starts_;
  TracedAccess access_;
};

/// Distinct tensors, whole.
double tensorBytes(const DispatchTrace& trace) {
  std::set<std::pair<uint64_t, size_t>> seen;
  double bytes = 0;
  for (const TracedBinding& binding : trace.bindings)
    if (seen.emplace(binding.buffer, binding.offsetBytes).second) bytes += static_cast<double>(binding.sizeBytes);
  return bytes;
}

class Profiler {
 public:
  Profiler(const DispatchTrace& trace, uint32_t width) : trace_(trace) { profile_.width = width; }

  DispatchProfile run() {
    describe();
    sites_.resize(trace_.code->sites.size());
    std::vector<TraceRecord> records(trace_.records.begin(), trace_.records.end());
    std::ranges::stable_sort(records, {},
                             [](const TraceRecord& r) { return std::tuple(r.group, r.site(), r.invocation()); });
    for (size_t first = 0; first < records.size();) {
      size_t end = first;
      while (end < records.size() && records[end].group == records[first].group &&
             records[end].site() == records[first].site())
        ++end;
      countSite(std::span(records).subspan(first, end - first));
      first = end;
    }
    sum();
    return std::move(profile_);
  }

 private:
  void describe() {
    profile_.shader = trace_.shader;
    profile_.groups = trace_.groups;
    profile_.invocations = trace_.invocations;
    profile_.tensorBytes = tensorBytes(trace_);
    profile_.tracedShare =
        trace_.groups == 0 ? 1 : static_cast<double>(trace_.groupsTraced) / static_cast<double>(trace_.groups);
    profile_.usesSubgroups = trace_.code->usesSubgroups;
    profile_.unknown = trace_.code->unknown;
    profile_.refusal = trace_.code->refusal;
    profile_.isExact = trace_.isWhole() && profile_.unknown == 0 && profile_.refusal.empty();
  }

  void countSite(std::span<const TraceRecord> records) {
    const uint32_t number = records.front().site();
    const AccessSite& site = trace_.code->sites[number];
    if (site.kind == Kind::Barrier) {  // one per invocation
      profile_.barriers += static_cast<double>(records.size()) / trace_.invocations;
      return;
    }
    if (site.kind == Kind::Return) return;
    SiteCounter counter(trace_, site, profile_.width);
    counter.count(records, sites_[number]);
    if (!isMemory(site)) return;
    for (const TraceRecord& record : records)
      for (uint64_t sector = counter.address(record) / kSectorBytes;
           sector <= (counter.address(record) + counter.bytes() - 1) / kSectorBytes; ++sector)
        footprint_.insert(counter.binding().buffer << 44 | sector);
  }

  void sum() {
    // Records that did not fit are like the others.
    const double fit = trace_.wanted == 0 ? 1
                                          : static_cast<double>(trace_.wanted) /
                                                static_cast<double>(std::max<size_t>(trace_.records.size(), 1));
    const double factor = fit / std::max(profile_.tracedShare, 1e-12);
    double accesses = 0, lanes = 0;
    for (size_t i = 0; i < sites_.size(); ++i) {
      const AccessSite& site = trace_.code->sites[i];
      AccessCounts& counts = sites_[i];
      if (counts.accesses == 0) continue;
      counts.scale(factor);
      accesses += counts.accesses;
      lanes += counts.lanes;
      if (site.space == Space::Shared) profile_.shared.add(counts);
      if (isMemory(site)) {
        profile_.all.add(counts);
        if (site.kind != Kind::Store) profile_.reads.add(counts);
        if (site.kind != Kind::Load) profile_.writes.add(counts);
      }
      profile_.sites.push_back({&site, counts});
    }
    profile_.laneShare = accesses > 0 ? lanes / (accesses * profile_.width) : 0;
    if (trace_.groupsTraced > 0) profile_.barriers *= fit / static_cast<double>(trace_.groupsTraced);
    const double seen = static_cast<double>(footprint_.size()) * kSectorBytes;
    profile_.footprintBytes =
        trace_.isWhole() ? seen : std::max(seen, std::min(profile_.tensorBytes, profile_.all.requestBytes()));
  }

  const DispatchTrace& trace_;
  DispatchProfile profile_;
  std::vector<AccessCounts> sites_;
  std::unordered_set<uint64_t> footprint_;
};

}  // namespace

void AccessCounts::add(const AccessCounts& other) {
  accesses += other.accesses;
  lanes += other.lanes;
  sectors += other.sectors;
  usedBytes += other.usedBytes;
  phases += other.phases;
  passes += other.passes;
  imageTexels += other.imageTexels;
}

void AccessCounts::scale(double factor) {
  for (double* value : {&accesses, &lanes, &sectors, &usedBytes, &phases, &passes, &imageTexels}) *value *= factor;
}

DispatchProfile profileOf(const DispatchTrace& trace, uint32_t width) { return Profiler(trace, width).run(); }

}  // namespace opkit::harness
