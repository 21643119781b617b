// What attributes_test needs to know beyond the facts of the specification: values with which each operator can be
// imported, and where the importer differs from the specification on purpose.
#pragma once

#include <span>

#include "fuzz/drawn_node.h"

namespace opkit::fuzz {

/// A node of this version that can be imported, with the attributes and inputs that it must have. An attribute (or
/// input) that only shows beside others has those when it is `tested`.
DrawnNode exampleOf(const OperatorFact& fact, int opset, const std::string& tested = "");
/// Values of the attribute other than `value`, its default or example. Empty `value`: none.
std::vector<std::string> otherValues(const OperatorFact& fact, const AttributeFact& attribute,
                                     const std::string& value);

/// An attribute, input or version of an operator, and why the importer treats it as it does. "*" is any operator.
struct Exception {
  const char* type;
  const char* name;
  const char* reason;
};

/// Attributes whose values change nothing.
std::span<const Exception> withoutEffect();
/// Attributes and inputs that are refused off their default.
std::span<const Exception> refused();
/// Versions without a rule; the name is the version.
std::span<const Exception> withoutRule();
/// Parameters that are named otherwise than their attribute; the reason is the field, or a word of it.
std::span<const Exception> fields();

/// Attributes whose default, written out, gives other parameters of the same meaning.
std::span<const Exception> otherBytes();
/// Attributes whose parameter holds another value.
std::span<const Exception> converted();
/// Words that mean the same as another.
std::span<const Exception> synonyms();

/// The exceptions that nothing has asked for, as text.
std::string unused();

const Exception* find(std::span<const Exception> list, const std::string& type, const std::string& name);

}  // namespace opkit::fuzz
