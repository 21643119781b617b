// Validate: checks that a spec's names are valid and free in the tree.
#pragma once

#include "scaffold/plan.h"
#include "scaffold/spec.h"

namespace opkit::scaffold {

/// Names against C++, GLSL, the templates and each other; dtypes against what the kind can compute on.
Status checkNames(const Spec& completedSpec);
/// Names against operators, folders (case-insensitively), shader stems and ONNX rules that other folders hold.
Status checkClashes(const Tree& tree, const Spec& completedSpec);

/// InvalidArgument if another shader of the tree would give the same C++ name as one at `path`.
Status checkShaderStem(const Tree& tree, const std::string& path);

/// An operator of the tree, found in its text.
struct KnownOperator {
  std::string type;
  std::string folder;  // of ops/
};
/// Every operator type that a card or a row of the tree declares.
std::vector<KnownOperator> operatorsOf(const Tree& tree);

/// The first string of every `rules.add("X", ..` and every name in a list of types, as text.
bool hasOnnxRule(const std::string& source, const std::string& onnxType);

}  // namespace opkit::scaffold
