// Names: the forms of an operator's name, and the names reserved by C++, GLSL and the templates.
#pragma once

#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::scaffold {

/// Longer words are no names; std::regex needs stack for each character.
inline constexpr size_t kLongestName = 200;

/// "HardShrink" -> "hard_shrink", "LRN" -> "lrn", "Conv2D" -> "conv2_d"; the folder and namespace of an operator.
std::string snakeCase(const std::string& upperCamel);
/// "hard_shrink" -> "HardShrink".
std::string upperCamel(const std::string& snake);
/// The enumerator of a word of any case: "half_pixel" -> "HalfPixel", "SAME_UPPER" -> "SameUpper", "DCR" -> "Dcr".
std::string choiceName(const std::string& word);
/// The parts between the separators, empty ones too: "a::b" -> "a", "", "b".
std::vector<std::string> splitAt(const std::string& text, char separator);

/// True if `name` is a keyword of C++20 or of GLSL 4.5.
bool isKeyword(const std::string& name);

/// An operator's type: UpperCamel, letters and digits, and none of its forms a keyword.
Status checkTypeName(const std::string& name);
/// snake_case, no keyword. `what` is for the message.
Status checkSnakeName(const std::string& what, const std::string& name);
/// A parameter, input or output: snake_case, no keyword, none of the names that the templates use.
Status checkVariableName(const std::string& what, const std::string& name);

}  // namespace opkit::scaffold
