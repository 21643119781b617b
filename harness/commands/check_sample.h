// The units of `check --sample`.
#pragma once

#include "harness/commands/check_job.h"
#include "harness/run/isolated_jobs.h"

namespace opkit::harness {

/// Each operator's sample (harness/check/sample.h) on each backend as units of one case, by group; then the error
/// cases. Worker processes look for it. An operator whose worker ends or hangs gets units of all its groups, so that
/// its check reports the cause.
Result<std::vector<CheckUnit>> sampleUnits(const Catalogue& catalogue, const OpRegistry& registry,
                                           const BackendOptions& backends, const IsolationLimits& limits);

}  // namespace opkit::harness
