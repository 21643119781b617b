// sample: the cases of an operator that together run each of its kernels with each dtype, and each of its shaders. For
// tests of every day; a whole `check` takes all.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/runtime/session.h"
#include "harness/cases/case_file.h"
#include "harness/check/shader_log.h"

namespace opkit::harness {

/// Case `index` of group `group` of a catalogue. It is brief if it brings another dtype of kernels that other cases of
/// the sample have: then the sub-checks of other modes and shapes are left out (PreparedGroup).
struct CasePlace {
  size_t group = 0;
  size_t index = 0;
  bool brief = false;
};

/// Chooses among the cases of `op`, on one backend, so that each pair of dtype and kernel that any of them runs is in
/// the choice, also the kernels of operators it is made of; on Vulkan each shader too, in a whole case, and the kernels
/// that other device classes choose, for which cases are whole. Takes cases near 1,024 elements first. Cases beyond
/// 65,536 elements are tried only if a kernel of the backend has not appeared before. Cases that the backend refuses
/// are not chosen. Empty if it refuses all.
std::vector<CasePlace> sampleOf(const std::string& op, const Catalogue& catalogue, const OpRegistry& registry,
                                const std::string& backend, const std::shared_ptr<Runtime>& runtime);

/// The shader variants for which planning a Session of the case asks: "gemm/gemm_thin STORAGE=f16". `log` is attached
/// to the Runtime. Empty if the case falls back or is refused.
std::set<std::string> plannedVariants(const Case& c, const OpRegistry& registry, const SessionConfig& config,
                                      const std::shared_ptr<Runtime>& runtime, ShaderLog& log);

}  // namespace opkit::harness
