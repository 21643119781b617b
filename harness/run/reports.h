// Reports for other programs: JUnit XML and GitHub's annotations, from the JSON lines of cases.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::harness {

/// One <testsuite> per backend, one <testcase> per line; failures carry the reason and `blocks`, skips theirs.
/// `missing`, the description of an incomplete run, becomes a separate error; otherwise the report would look complete
/// and green.
std::string junitXml(const std::vector<nlohmann::json>& lines, const std::vector<std::string>& blocks,
                     const std::string& missing = "");

/// "::error file=ops/softmax/softmax.cases.json,title=Softmax on vulkan::..." for a failed case's line.
std::string githubAnnotation(const nlohmann::json& line, const std::string& folder);

}  // namespace opkit::harness
