// Doctor: finds missing or leftover parts in an operator's folders from their text. Nothing is built or run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "scaffold/plan.h"

namespace opkit::scaffold {

struct Finding {
  std::string where;    // "ops/softmax/softmax_vulkan.cpp:12"
  std::string message;  // the expected and the found content
};

/// Attributes of an ONNX operator by the standard, over all versions; empty for an operator it does not know.
using OnnxAttributes = std::set<std::string> (*)(const std::string& onnxType);
std::set<std::string> standardAttributes(const std::string& onnxType);

/// Findings of one folder of ops/ and its shaders: missing parts, unused shaders, unselected variants, cases without
/// designed data or stored shapes, bindings and push constants that no C++ sets, ONNX attributes that no rule reads.
std::vector<Finding> examineOperator(const Tree& tree, const std::string& folder,
                                     OnnxAttributes attributes = standardAttributes);
/// Shaders of folders that no operator and no engine source includes, in the whole tree.
std::vector<Finding> orphanShaders(const Tree& tree);
/// Marks that op-scaffold left for the developer, below ops/, shaders/ and engine/.
std::vector<Finding> leftoverMarks(const Tree& tree);
/// All of the above; `op` is an operator's type or a folder, empty for the whole tree. InvalidArgument when unknown.
Result<std::vector<Finding>> examine(const Tree& tree, const std::string& op, bool marksOnly);

}  // namespace opkit::scaffold
