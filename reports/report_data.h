// reportData: the content of the report page, computed from results.
//
// The tree of strings and lists that the page template (report.mustache.html) reads. Statistics are computed here; the
// template only lays them out.
#pragma once

#include <kainjow/mustache.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/headlines.h"
#include "reports/night_parts.h"
#include "reports/peer_times.h"

namespace opkit::reports {

/// The summary of an operator, and its page in the tree.
struct OperatorNote {
  std::string summary, page;
};

/// Further contents of a page, beside the results of a night; each may be absent.
struct PageSources {
  // With a history: what changed since the night before, and series over the nights.
  std::optional<Nights> nights;
  std::optional<Judged> judged;
  std::optional<NightParts> parts;            // of the full night
  std::optional<PeerTimes> peers;             // the last comparison with ONNX Runtime
  std::map<std::string, OperatorNote> notes;  // by operator
  std::optional<Headlines> headlines;         // of numbers of other programs, which are no results

  const Nights* nightsOrNull() const { return nights ? &*nights : nullptr; }
  const Judged* judgedOrNull() const { return judged ? &*judged : nullptr; }
};

/// Strings and lists for the template; the style, the scripts and their data are not among them (page/page_html.h).
kainjow::mustache::object reportData(const Results& results, const PageSources& sources = {});

/// One record per case, backend and provider: of several process runs the middle one by execute time.
std::vector<const CaseRecord*> middleRuns(const std::vector<const CaseRecord*>& records);

/// As encodeURIComponent of JavaScript.
std::string percentEncoded(const std::string& text);
/// "1.23 ms": three significant digits in ns, µs, ms or s.
std::string formatNs(double ns);
std::string formatNumber(double value);
/// "12.3 %"
std::string formatPercent(double share);

}  // namespace opkit::reports
