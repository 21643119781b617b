// What attributes_test needs to know beyond the facts of the specification: values with which each operator can be
// imported, and other values of its attributes.
#pragma once

#include "fuzz/drawn_node.h"

namespace opkit::fuzz {

/// A node of this version that can be imported, with the attributes and inputs that it must have. An attribute (or
/// input) that only shows beside others has those when it is `tested`.
DrawnNode exampleOf(const OperatorFact& fact, int opset, const std::string& tested = "");
/// Values of the attribute other than `value`, its default or example. Empty `value`: none.
std::vector<std::string> otherValues(const OperatorFact& fact, const AttributeFact& attribute,
                                     const std::string& value);

}  // namespace opkit::fuzz
