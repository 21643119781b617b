#include "scaffold/names.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace opkit::scaffold {
namespace {

bool isUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool isLower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

constexpr std::string_view kCppKeywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class "
    "compl "
    "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default "
    "delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long "
    "mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
    "xor_eq std opkit main ";

constexpr std::string_view kGlslKeywords =
    " active asm atomic_uint attribute bool break buffer bvec2 bvec3 bvec4 case cast centroid class coherent common "
    "const "
    "continue default discard dmat2 dmat3 dmat4 do double dvec2 dvec3 dvec4 else enum extern external false filter "
    "fixed "
    "flat float for goto half highp hvec2 hvec3 hvec4 if image in inline inout input int interface invariant isampler "
    "ivec2 ivec3 ivec4 layout long lowp mat2 mat3 mat4 mediump namespace noinline noperspective out output partition "
    "patch precise precision public readonly resource restrict return sample sampler shared short sizeof smooth static "
    "struct subroutine superp switch template this texture true typedef uint uniform union unsigned using uvec2 uvec3 "
    "uvec4 varying vec2 vec3 vec4 void volatile while writeonly ";

// Locals and members of the templates, and the functions that their shaders call.
constexpr std::string_view kTemplateNames =
    " abs apply args at begin best body clamp column columns count depth desc encoder end exp extent first "
    "folded has i index indices_ inner inputs j k last load matrices max message min mix mod name o outer "
    "outputs params part plan plane planes positions push result row rows saturated self shader shape sqrt store sum "
    "t table tap taps team to type value walk window words ";

// Namespaces and macros that sources of ops/ name: opkit::ops::vulkan would hide opkit::vulkan from every operator.
constexpr std::string_view kTakenNamespaces =
    " assert cli cpu detail dnnl errno flatbuffers fmt fs gen harness hn hwy nlohmann null offsetof ops plugin rc "
    "reference scaffold shaders stderr stdin stdout test testing vm vulkan zoo ";

// File name endings that tell the build a file's purpose: foo_test.cpp is a test, foo_vulkan.cpp is left out without
// Vulkan.
constexpr std::string_view kTakenEndings[] = {"_test", "_cpu", "_vulkan", "_onnx", "_onednn", "_passes", "_reference"};

bool listed(std::string_view words, const std::string& word) {
  return words.find(" " + word + " ") != std::string_view::npos;
}

}  // namespace

std::string snakeCase(const std::string& upperCamel) {
  std::string snake;
  for (size_t i = 0; i < upperCamel.size(); ++i) {
    const char c = upperCamel[i];
    const bool startsWord = i > 0 && isUpper(c) &&
                            (!isUpper(upperCamel[i - 1]) || (i + 1 < upperCamel.size() && isLower(upperCamel[i + 1])));
    if (startsWord) snake += '_';
    snake += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return snake;
}

std::string upperCamel(const std::string& snake) {
  std::string name;
  bool upper = true;
  for (const char c : snake) {
    if (c != '_') name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return name;
}

std::string choiceName(const std::string& word) {
  std::string snake = word;
  std::replace(snake.begin(), snake.end(), '-', '_');
  const bool mixed = std::any_of(snake.begin(), snake.end(), isLower);
  if (!mixed)
    std::transform(snake.begin(), snake.end(), snake.begin(), [](unsigned char c) { return std::tolower(c); });
  return upperCamel(snake);
}

std::vector<std::string> splitAt(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t at = text.find(separator); at != std::string::npos; at = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

bool isKeyword(const std::string& name) { return listed(kCppKeywords, name) || listed(kGlslKeywords, name); }

Status checkTypeName(const std::string& name) {
  const bool fits =
      !name.empty() && isUpper(name[0]) && name.size() <= 64 &&
      std::all_of(name.begin(), name.end(), [](char c) { return isUpper(c) || isLower(c) || isDigit(c); });
  if (!fits) return Status::invalidArgument("an operator's name is UpperCamel, such as HardShrink, got '{}'", name);
  if (isKeyword(snakeCase(name)))
    return Status::invalidArgument("'{}' gives the namespace '{}', a keyword of C++ or GLSL; choose another name", name,
                                   snakeCase(name));
  if (listed(kTakenNamespaces, snakeCase(name)))
    return Status::invalidArgument("'{}' gives the namespace '{}', but the sources use it already; choose another name",
                                   name, snakeCase(name));
  for (const std::string_view ending : kTakenEndings)
    if (snakeCase(name).ends_with(ending))
      return Status::invalidArgument(
          "'{}' gives the file {}.cpp, and the build takes *{}.cpp for a part of an operator; "
          "choose another name",
          name, snakeCase(name), ending);
  return Status::ok();
}

Status checkSnakeName(const std::string& what, const std::string& name) {
  const bool fits = !name.empty() && isLower(name[0]) && name.size() <= 48 && name.back() != '_' &&
                    name.find("__") == std::string::npos && name.rfind("gl_", 0) != 0 &&
                    std::all_of(name.begin(), name.end(), [](char c) { return isLower(c) || isDigit(c) || c == '_'; });
  if (!fits) return Status::invalidArgument("{}: expected a snake_case name, got '{}'", what, name);
  if (isKeyword(name)) return Status::invalidArgument("{}: '{}' is a keyword of C++ or GLSL", what, name);
  return Status::ok();
}

Status checkVariableName(const std::string& what, const std::string& name) {
  OPKIT_TRY(checkSnakeName(what, name));
  if (listed(kTemplateNames, name))
    return Status::invalidArgument("{}: '{}' is used by the generated code; choose another name", what, name);
  return Status::ok();
}

}  // namespace opkit::scaffold
