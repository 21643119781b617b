// The inverse of parseCaseFile: cases as the text of a case file.
#pragma once

#include <span>
#include <string>

#include "harness/cases/case.h"

namespace opkit::harness {

/// One entry per line; each stands for exactly its case.
std::string caseFileText(std::span<const Case> cases);

}  // namespace opkit::harness
