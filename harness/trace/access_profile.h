// The access profile of a dispatch: what its loads and stores ask of a GPU's memory.
//
// Counted from a trace, for subgroups of a modelled width: the lanes of a subgroup execute an access together. Their
// n-th executions of one instruction are taken as one access, also if a lane skipped the instruction before. A GPU
// reads and writes memory by sectors of 32 bytes; shared memory has 32 banks of 4 bytes and serves 128 bytes in one
// pass. The layout of images is unknown: their accesses are counted, not their sectors.
#pragma once

#include "harness/trace/shader_tracer.h"

namespace opkit::harness {

constexpr uint32_t kSectorBytes = 32;
constexpr uint32_t kBanks = 32, kBankBytes = 4;

/// Sums over the subgroup accesses of one instruction, or of several.
struct AccessCounts {
  double accesses = 0;     // by a subgroup
  double lanes = 0;        // that took part
  double sectors = 0;      // distinct ones of each access
  double usedBytes = 0;    // distinct ones of each access
  double phases = 0;       // of shared memory: parts of an access with at most 128 bytes
  double passes = 0;       // of shared memory: those that the phases take
  double imageTexels = 0;  // of images

  double requestBytes() const { return sectors * kSectorBytes; }
  /// Bytes used / bytes of the sectors; 1 without sectors.
  double efficiency() const { return sectors > 0 ? usedBytes / requestBytes() : 1; }
  /// Mean number of passes per phase; 1 without bank conflicts.
  double bankPasses() const { return phases > 0 ? passes / phases : 1; }
  void add(const AccessCounts& other);
  void scale(double factor);
};

struct SiteProfile {
  const AccessSite* site = nullptr;
  AccessCounts counts;
};

struct DispatchProfile {
  std::string shader;
  uint32_t width = 0;  // of the modelled subgroup
  uint64_t groups = 0;
  uint32_t invocations = 0;            // of a group
  AccessCounts reads, writes, shared;  // atomics count as both reads and writes
  AccessCounts all;                    // of buffers and texel buffers
  double laneShare = 0;                // of the modelled subgroups' lanes, mean over all accesses
  double footprintBytes = 0;           // distinct sectors of the dispatch; if some groups were not traced, at most
                                       // the bytes of the tensors
  double tensorBytes = 0;              // of the distinct tensors that it binds
  double barriers = 0;                 // per group
  double tracedShare = 0;              // of the groups
  bool isExact = false;                // every access of every group was counted
  bool usesSubgroups = false;          // subgroup operations ran at the device's width, not the modelled one
  size_t unknown = 0;                  // accesses in the shader that the trace lacks
  std::string refusal;                 // why there is no trace
  std::vector<SiteProfile> sites;      // loads, stores and atomics that ran
  uint64_t subgroups() const { return groups * ((invocations + width - 1) / width); }
};

/// Profile for subgroups of `width` invocations, 1 to 128. What groups that were not traced do is inferred from the
/// others.
DispatchProfile profileOf(const DispatchTrace& trace, uint32_t width);

}  // namespace opkit::harness
