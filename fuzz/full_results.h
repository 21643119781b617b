// fullResults: a file of results in which every record has every field, so that each reader of a field is fuzzed.
#pragma once

#include <string>

namespace opkit::fuzz {

std::string fullResults();

}  // namespace opkit::fuzz
