// Variants of a shader: the lines `//! variant AXIS: v1 v2 ...` of a .comp file and their cartesian product.
//
// Each value defines AXIS_V1=1 for the preprocessor. When every value of an axis names an element type (a
// DType's short name, or one of u32x2, u32x4, u64x2), AXIS_TYPE, AXIS_ARITH, AXIS_LOAD and AXIS_STORE name that
// type's macros in shaders/include/storage.glsl. When every value is a number, AXIS is that number.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"

namespace opkit::shader_build {

struct Axis {
  std::string name;                 // "STORAGE"
  std::vector<std::string> values;  // "f32", "f16"

  bool isDType() const;    // every value is a DType's name
  bool isElement() const;  // every value is an element type of storage.glsl
  bool isWord() const;     // every value is an unsigned word: distinguished by size alone
  bool isNumber() const;   // every value is a decimal number
};

/// One value per axis, by index, in the order of the axes.
using Choice = std::vector<size_t>;
using Defines = std::vector<std::pair<std::string, std::string>>;

/// InvalidArgument begins with "path:line: " as compilers print.
Result<std::vector<Axis>> parseAxes(const std::string& path, const std::string& source);
/// The cartesian product, last axis fastest; one empty choice without axes.
std::vector<Choice> allChoices(const std::vector<Axis>& axes);
/// The preprocessor definitions of one choice.
Defines definesOf(const std::vector<Axis>& axes, const Choice& choice);
/// "STORAGE=f16 OP=relu", or "".
std::string describe(const std::vector<Axis>& axes, const Choice& choice);

/// Bytes of a word type ("u16" -> 2), 0 for anything else.
size_t wordBytes(const std::string& value);
/// snake_case or UPPER_CASE to UpperCamel: "layer_norm" -> "LayerNorm".
std::string upperCamel(const std::string& name);
/// "STORAGE" -> "storage", "FROM_TYPE" -> "fromType".
std::string lowerCamel(const std::string& name);

}  // namespace opkit::shader_build
