// Kinds: the values of `op-scaffold new --kind`, one row each. The templates of a kind are in templates/<kind>/.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "scaffold/spec.h"

namespace opkit::scaffold {

struct Kind {
  std::string name;
  std::string summary;  // the operators it suits
  std::string formula;  // what the generated operator computes
  std::string shapes;
  std::string error;
  std::string breaks;                 // the faults that its cases try to find
  std::string example;                // arguments of a command line
  bool row = false;                   // a row in the family of this name instead of a folder
  std::vector<Attribute> attributes;  // that the templates need; a spec may change their defaults
  std::vector<PortSpec> inputs;       // dtypes "same" are those of the first one; further inputs are like the last
  std::vector<PortSpec> outputs{{"y", ""}};
  size_t minInputs = 0;  // that every operator of the kind has; 0: all `inputs`
  size_t maxInputs = 1;
  size_t maxOutputs = 1;
  bool anyDType = false;      // moves elements of any type; otherwise computes on floats
  bool kernels = true;        // has its own kernels; otherwise is lowered
  bool contents = false;      // its shape rule may read the values of inputs after the first `least()`
  bool onlyContents = false;  // and takes no others after them
  std::string templates;      // the kind whose templates it shares (<%#its own name%> tells them apart); empty: its own

  /// How many inputs an operator has at least; those behind may be optional or contents.
  size_t least() const { return minInputs ? minInputs : inputs.size(); }
  /// The kind's port for input `i` of a spec.
  const PortSpec& inputOf(size_t i) const { return inputs[std::min(i, inputs.size() - 1)]; }
  /// The folder of its templates.
  const std::string& folder() const { return templates.empty() ? name : templates; }
};

const std::vector<Kind>& kinds();
/// Null if there is none of that name.
const Kind* findKind(const std::string& name);

/// "{unary,binary,...}", as help and completion show it.
std::string kindChoices();

/// The attributes that the templates of the spec's kind and form of rows need. REQUIRES a known kind.
std::vector<Attribute> ownAttributes(const Spec& spec);

/// The spec with the kind's attributes and ports where it names none. InvalidArgument when it does not fit the kind.
Result<Spec> completed(const Spec& spec);

}  // namespace opkit::scaffold
