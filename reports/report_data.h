// reportData: the content of the report page, computed from results.
//
// The tree of strings and lists that the page template (report.mustache.html) reads. Statistics are computed here; the
// template only lays them out.
#pragma once

#include <kainjow/mustache.hpp>

#include "reports/headlines.h"
#include "reports/night_parts.h"
#include "reports/peer_times.h"

namespace opkit::reports {

/// `nights` and `judged` add what changed since the night before, null without a history; `parts` the full night,
/// `peers` the last comparison with ONNX Runtime.
kainjow::mustache::data reportData(const Results& results, const Nights* nights = nullptr,
                                   const Judged* judged = nullptr, const NightParts* parts = nullptr,
                                   const PeerTimes* peers = nullptr);

/// "1.23 ms": three significant digits in ns, µs, ms or s.
std::string formatNs(double ns);

}  // namespace opkit::reports
