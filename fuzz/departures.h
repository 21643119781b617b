// Where the importer differs from the specification on purpose, for attributes_test. Each entry must be needed.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace opkit::fuzz {

/// An attribute, input or version of an operator, and why the importer treats it as it does. "*" is any.
struct Departure {
  const char* type;
  const char* name;
  const char* reason;
};

/// Attributes whose values change nothing.
std::span<const Departure> withoutEffect();
/// Attributes and inputs that are refused off their default.
std::span<const Departure> refused();
/// Versions without a rule; the name is the version.
std::span<const Departure> withoutRule();
/// Fields and constants that are named otherwise than their attribute; the reason is their names, with | between them.
std::span<const Departure> fields();
/// Attributes that change other parts of the model than fields and constants of their names.
std::span<const Departure> elsewhere();
/// Attributes whose default, written out, gives other parameters of the same meaning.
std::span<const Departure> otherBytes();
/// Attributes whose field or constant holds another value.
std::span<const Departure> converted();
/// Words that mean the same as another.
std::span<const Departure> synonyms();

/// Versions whose own rule makes the model of the version before of an example; the name is the opset.
std::span<const Departure> sameModel();

/// The first entry that `holds`, which is needed then. Null if there is none.
const Departure* find(
    std::span<const Departure> list, const std::string& type, const std::string& name,
    const std::function<bool(const Departure&)>& holds = [](const Departure&) { return true; });
/// The entries that were never needed, as text.
std::string unused();

}  // namespace opkit::fuzz
