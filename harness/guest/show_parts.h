// Parts of both kinds of show programs: the values of a case as text, and lines of code.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/tensor/tensor.h"
#include "harness/export/exported_case.h"
#include "harness/guest/guest.h"
#include "harness/guest/show_program.h"

namespace opkit::harness::show {

inline constexpr size_t kMostLines = 30, kMostColumns = 140;

/// Values of an input, an output or bounds. They stand in the program, or in the file if it has a name.
struct Values {
  Tensor tensor;
  std::string file;
};

struct Output {
  Values expected;  // rounded to the type of the output
  Values bounds;    // f64: one per element, or one for all. Infinity: any finite value
};

struct Set {
  std::vector<Values> inputs;
  std::vector<Output> outputs;
};

struct Program {
  std::string title;                         // one line
  std::vector<std::string> inputs, outputs;  // names
  std::vector<Set> sets;
  bool signOfZero = false;  // a zero must have its sign
  bool readsFiles = false;
};

enum class Language { JavaScript, Cpp };
/// The elements as literals. f16 in JavaScript: codes. REQUIRES no packed or 8-bit coded type.
std::vector<std::string> literalsOf(const Tensor& tensor, Language language);
/// In single quotes for JavaScript, in double ones for C++.
std::string quoted(const std::string& text, Language language);

/// Lines of at most 140 columns out of pieces that no line divides, or longer ones if they were more than `most`.
std::vector<std::string> linesOf(const std::vector<std::string>& pieces, size_t most, const std::string& indent);
/// Behind `lines` those of a text.
void addLines(std::vector<std::string>& lines, std::string_view text);
std::string joined(const std::vector<std::string>& lines);

/// Null if JavaScript does not have the type.
struct JavaScriptType {
  const char* name;   // of a tensor
  const char* array;  // that holds the elements
};
std::optional<JavaScriptType> javaScriptTypeOf(DType dtype);
/// Whether the header of C++ has numbers of the type.
bool isComparedInCpp(DType dtype);
/// Whether it has the type at all.
bool isTypeOfCpp(DType dtype);

/// "cpu" and "webgpu" of "CPUExecutionProvider" and "WebGpuExecutionProvider".
std::string plainProvider(const std::string& provider);
std::string writeJavaScript(const Program& program, const GuestInfo& info);
std::string writeCpp(const Program& program, const GuestChoice& choice, const GuestInfo& info);

}  // namespace opkit::harness::show
