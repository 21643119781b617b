// Rewrites a shader so that it appends its memory accesses to a trace.
//
// Every load, store and atomic of a storage buffer, shared variable, texel buffer or image, every barrier and the end
// of every invocation becomes a site: the shader appends one record per execution of it. What the shader computes stays
// the same. Push constants, and variables of one invocation, are not recorded.
//
// The trace is the storage buffer at set 1, binding 0, of 32-bit words: kTraceHeaderWords words, then the records.
#pragma once

#include <string>

#include "harness/trace/spirv_module.h"

namespace opkit::harness {

struct AccessSite {
  enum class Kind : uint8_t { Load, Store, Atomic, Barrier, Return };
  enum class Space : uint8_t { Buffer, Shared, Texel, Image, None };
  Kind kind = Kind::Load;
  Space space = Space::None;
  uint32_t binding = 0;      // of a Buffer, Texel or Image
  uint32_t variable = 0;     // SPIR-V id
  uint32_t bytes = 0;        // per invocation; 0 for Texel and Image: the tensor's format decides
  uint32_t sizeBytes = 0;    // of a Shared variable; 0 if a specialisation constant decides
  uint32_t semantics = 0;    // of a Barrier and the memory barriers right before it: SPIR-V memory semantics
  uint32_t instruction = 0;  // its number in the module
  std::string name;          // of the variable; empty without debug information
  std::string file;          // likewise
  uint32_t line = 0;         // likewise 0
};

/// One execution of a site by one invocation. In the order of execution for each invocation.
struct TraceRecord {
  uint32_t group = 0;    // linear: (z * Y + y) * X + x
  uint32_t lane = 0;     // low 16 bits: gl_LocalInvocationIndex; high 16 bits: the site
  uint32_t epoch = 0;    // barriers that the invocation passed before
  uint32_t address = 0;  // byte of the binding or variable; Texel: the texel; Image: y << 16 | x

  uint32_t invocation() const { return lane & 0xFFFFu; }
  uint32_t site() const { return lane >> 16; }
};
static_assert(sizeof(TraceRecord) == 16);

constexpr uint32_t kTraceHeaderWords = 4;
/// The header: records that were wanted, records that fit, and the groups that record: group % stride == phase.
struct TraceHeader {
  uint32_t wanted = 0;
  uint32_t capacity = 0;
  uint32_t stride = 1;
  uint32_t phase = 0;
};
static_assert(sizeof(TraceHeader) == kTraceHeaderWords * sizeof(uint32_t));

struct InstrumentedShader {
  std::vector<uint32_t> spirv;
  std::vector<AccessSite> sites;
  size_t unknown = 0;  // accesses through pointers that were not followed: they are not recorded
  bool usesSubgroups = false;
  std::string refusal;  // why the shader was left as it is; then it has no sites
};

/// InvalidArgument if the words are not a SPIR-V module of one compute shader with fewer than 65,536 sites.
Result<InstrumentedShader> instrument(std::span<const uint32_t> spirv);

}  // namespace opkit::harness
