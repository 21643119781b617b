// The inverse of parseCaseFile: cases as the text of a case file.
#pragma once

#include <span>
#include <string>

#include "harness/cases/case.h"

namespace opkit::harness {

/// The entry of a case file, on one line, that stands for exactly this case.
std::string caseEntry(const Case& c);

/// One entry per line; each stands for exactly its case.
std::string caseFileText(std::span<const Case> cases);

}  // namespace opkit::harness
