// Seeded damage to a JSON document.
#pragma once

#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace opkit::fuzz {

/// Damages one value or key of an object or array; returns what it did.
std::string mutateTree(nlohmann::json& tree, std::mt19937_64& random);

}  // namespace opkit::fuzz
