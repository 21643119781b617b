// What attributes_test needs to know beyond the facts of the specification: values with which each operator can be
// imported, and other values of its attributes.
#pragma once

#include <span>

#include "fuzz/drawn_node.h"

namespace opkit::fuzz {

/// `values` are name=value, where - is absent, or @inputs=n (the first n are present), @outputs=n, @with=a,b
/// (these optional inputs are present), @constant=i:n (input i is a constant of n elements). A name with ~ in front has
/// other values, with | between them.
struct Example {
  const char* type;  // OperatorFact::listName()
  int first, last;
  const char* tested;  // the attribute or input for which this holds; "" is any
  const char* values;
};

constexpr int kLast = 1000;

/// Those of com.microsoft.
std::span<const Example> contribExamples();

/// A node of this version that can be imported, with the attributes and inputs that it must have. An attribute (or
/// input) that only shows beside others has those when it is `tested`.
DrawnNode exampleOf(const harness::OperatorFact& fact, int opset, const std::string& tested = "");
/// Values of the attribute other than `value`, its default or example. Empty `value`: none.
std::vector<std::string> otherValues(const harness::OperatorFact& fact, const harness::AttributeFact& attribute,
                                     const std::string& value);

}  // namespace opkit::fuzz
