// Where: the files and lines that make an operator, a row of a family or an ONNX rule, found in the text of the tree.
#pragma once

#include <string>
#include <vector>

#include "scaffold/plan.h"

namespace opkit::scaffold {

struct Place {
  std::string part;  // "card", "oracle", "CPU kernel"
  std::string path;  // relative to the root
  size_t line = 1;   // that names the operator; else that defines the part for all operators of the folder
  std::string text;  // of the line, without indentation
};

/// The places of an operator's type, or of a name of ONNX ("com.microsoft::FusedConv", "SwiGLU"): card, oracle, rules,
/// kernels, shaders, passes, cases and page, in this order. InvalidArgument for an unknown name, with similar ones.
Result<std::vector<Place>> placesOf(const Tree& tree, const std::string& name);

}  // namespace opkit::scaffold
