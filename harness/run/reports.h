// Reports for other programs: JUnit XML and GitHub's annotations, from recorded cases.
#pragma once

#include <string>
#include <vector>

#include "reports/results/records.h"

namespace opkit::harness {

/// One <testsuite> per backend, one <testcase> per case; failures carry the reason and `blocks`, skips theirs.
/// `missing`, the description of an incomplete run, becomes a separate error; otherwise the report would look complete
/// and green.
std::string junitXml(const std::vector<reports::CaseRecord>& cases, const std::vector<std::string>& blocks,
                     const std::string& missing = "");

/// "::error file=ops/softmax/softmax.cases.json,title=Softmax on vulkan::..." for a failed case.
std::string githubAnnotation(const reports::CaseRecord& one, const std::string& folder);

}  // namespace opkit::harness
