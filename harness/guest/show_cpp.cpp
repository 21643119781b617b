// show.cpp: a program for the headers of an ONNX Runtime release.
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "harness/guest/show_parts.h"

namespace opkit::harness::show {
namespace cpp {  // names of their own in a joint compilation
namespace {

constexpr Language kLanguage = Language::Cpp;

struct CppType {
  const char* name = nullptr;    // of elements; null: the headers have none
  const char* number = nullptr;  // that an element is made of; null: itself
  bool isCode = false;           // of 8 bits, without conversions
};

CppType cppTypeOf(DType dtype) {
  switch (dtype) {
    case DType::Float32: return {"float"};
    case DType::Float16: return {"Ort::Float16_t", "float"};
    case DType::BFloat16: return {"Ort::BFloat16_t", "float"};
    case DType::Float64: return {"double"};
    case DType::Int8: return {"int8_t"};
    case DType::UInt8: return {"uint8_t"};
    case DType::Int16: return {"int16_t"};
    case DType::UInt16: return {"uint16_t"};
    case DType::Int32: return {"int32_t"};
    case DType::UInt32: return {"uint32_t"};
    case DType::Int64: return {"int64_t"};
    case DType::UInt64: return {"uint64_t"};
    case DType::Bool: return {"bool"};
    case DType::Float8E4M3FN: return {"Ort::Float8E4M3FN_t", nullptr, true};
    case DType::Float8E4M3FNUZ: return {"Ort::Float8E4M3FNUZ_t", nullptr, true};
    case DType::Float8E5M2: return {"Ort::Float8E5M2_t", nullptr, true};
    case DType::Float8E5M2FNUZ: return {"Ort::Float8E5M2FNUZ_t", nullptr, true};
    default: return {};
  }
}

/// "Ort::Float16_t, float"
std::string argumentsOf(DType dtype) {
  const CppType type = cppTypeOf(dtype);
  return type.number ? fmt::format("{}, {}", type.name, type.number) : type.name;
}

std::string tensorOf(const Values& values) {
  const TensorDesc& desc = values.tensor.desc;
  const std::string shape = fmt::format("{{{}}}", fmt::join(desc.shape, ", "));
  if (values.file.empty())
    return fmt::format("tensor<{}>({}, {{{}}})", argumentsOf(desc.dtype), shape,
                       fmt::join(literalsOf(values.tensor, kLanguage), ", "));
  return fmt::format("tensor<{}>({}, {})", cppTypeOf(desc.dtype).name, shape, quoted(values.file, kLanguage));
}

std::string judgeOf(const Program& program, const Set& set, size_t i) {
  const Output& output = set.outputs[i];
  return fmt::format("judge<{}>({}, y[{}], {}, {})", argumentsOf(output.expected.tensor.desc.dtype),
                     quoted(program.outputs[i], kLanguage), i, tensorOf(output.expected), tensorOf(output.bounds));
}

/// The spelling by which session options take a provider of the library itself.
std::string spellingOf(const std::string& provider) {
  const std::string plain = plainProvider(provider);
  for (const char* spelled : {"WebGPU", "XNNPACK", "AZURE", "DML"})
    if (plainProvider(spelled) == plain) return spelled;
  return provider.substr(0, plain.size());
}

std::string settingsOf(const GuestChoice& choice) {
  std::vector<std::string> pairs;
  for (const auto& [key, value] : choice.settings)
    pairs.push_back(fmt::format("{{{}, {}}}", quoted(key, kLanguage), quoted(value, kLanguage)));
  return fmt::format("{{{}}}", fmt::join(pairs, ", "));
}

/// Graph optimisations off; the provider without fallback.
std::vector<std::string> optionLines(const GuestChoice& choice, const GuestInfo& info) {
  const std::string common = "  options.SetGraphOptimizationLevel(ORT_DISABLE_ALL)";
  const bool isPlugin = !choice.providerLibrary.empty();
  if (!isPlugin && plainProvider(info.provider) == "cpu") return {common + ";"};
  const std::string alone = common + ".AddConfigEntry(\"session.disable_cpu_ep_fallback\", \"1\")";
  if (!isPlugin) {
    const std::string append =
        fmt::format(".AppendExecutionProvider({}{});", quoted(spellingOf(info.provider), kLanguage),
                    choice.settings.empty() ? "" : ", " + settingsOf(choice));
    if (alone.size() + append.size() <= kMostColumns) return {alone + append};
    return {alone + ";", "  options" + append};
  }
  std::string withSettings = alone + ";";
  for (const auto& [key, value] : choice.settings)
    withSettings += fmt::format(" settings.Add({}, {});", quoted(key, kLanguage), quoted(value, kLanguage));
  return {withSettings,
          fmt::format("  for (auto one : env.RegisterExecutionProviderLibrary({}, arguments[1]).GetEpDevices())",
                      quoted(choice.provider, kLanguage)),
          fmt::format("    if (one.EpName() == std::string({}) && taken++ == 0) "
                      "options.AppendExecutionProvider_V2(env, {{one}}, settings);",
                      quoted(info.provider, kLanguage))};
}

/// Digits that tell any two values of the outputs apart.
int digitsOf(const Program& program) {
  int digits = 10;
  for (const Output& output : program.sets[0].outputs) {
    const DType dtype = output.expected.tensor.desc.dtype;
    if (dtype == DType::Float64) digits = std::max(digits, 17);
    if (dtype == DType::Int64 || dtype == DType::UInt64) digits = 20;
  }
  return digits;
}

/// The function that makes tensors, of values or of files.
constexpr const char* kTensorOfFile =
    R"(template <class T> Ort::Value tensor(std::vector<int64_t> dims, const char* file) {
  auto y = Ort::Value::CreateTensor<T>(Ort::AllocatorWithDefaultOptions(), dims.data(), dims.size());
  const size_t size = y.GetTensorTypeAndShapeInfo().GetElementCount() * sizeof(T);
  return std::fread(y.GetTensorMutableRawData(), 1, size, std::fopen(file, "rb")) == size ? std::move(y) : throw std::runtime_error(file);
})";
constexpr const char* kTensorOfValues =
    R"(template <class T, class N = T> Ort::Value tensor(std::vector<int64_t> dims, std::vector<N> values) {
  auto y = Ort::Value::CreateTensor<T>(Ort::AllocatorWithDefaultOptions(), dims.data(), dims.size());
  std::transform(values.begin(), values.end(), y.template GetTensorMutableData<T>(), [](N number) { return T(number); });
  return y;
})";

/// The function that compares: with the digits of numbers, and with what makes them the same. long double holds 64-bit
/// integers.
constexpr const char* kJudge =
    R"(template <class T, class N = T> bool judge(const char* name, const Ort::Value& got, const Ort::Value& expected, const Ort::Value& bound) {{
  const auto have = got.GetTensorTypeAndShapeInfo(), want = expected.GetTensorTypeAndShapeInfo(); auto b = bound.GetTensorData<double>();
  if (have.GetShape() != want.GetShape()) throw std::runtime_error(name + std::string(" has another shape"));
  const size_t bounds = bound.GetTensorTypeAndShapeInfo().GetElementCount(); long double worst = 0, error = 0;
  for (size_t i = 0; i < want.GetElementCount(); ++i, worst = std::fmax(worst, error)) {{
    const long double g = N(got.GetTensorData<T>()[i]), e = N(expected.GetTensorData<T>()[i]), far = std::abs(g - e);
    {1}
    if (i < 16 || error > worst) std::printf("%s[%zu] got %.{0}Lg, expected %.{0}Lg, error / bound %Lg\n", name, i, g, e, error);
  }}
  return worst <= 1;
}})";
constexpr const char* kError =
    "error = g == e || (g != g && e != e) ? 0 : std::isfinite(far) ? far / b[i % bounds] : INFINITY;";
constexpr const char* kErrorWithSign =
    "error = (g == e && 1 / g == 1 / e) || (g != g && e != e) ? 0 : std::isnormal(far) ? far / b[i % bounds] : "
    "INFINITY;";

std::vector<std::string> front(const Program& program, const GuestChoice& choice, const GuestInfo& info) {
  const bool isPlugin = !choice.providerLibrary.empty();
  return {
      "// " + program.title,
      fmt::format(
          "// g++ -std=c++17 show.cpp -I INCLUDE LIBRARY -Wl,-rpath,LIBRARY_FOLDER && ./a.out{}, with headers of {}",
          isPlugin ? " PROVIDER_LIBRARY" : "", info.version),
      "#include <onnxruntime_cxx_api.h>", "#include <cmath>", "#include <cstdio>"};
}

std::string runOf(const Program& program, const char* inputs) {
  const size_t count = program.inputs.size();
  return fmt::format("session.Run({{}}, names, {}, {}, names + {}, {})", inputs, count, count, program.outputs.size());
}

std::vector<std::string> mainLines(const Program& program, const GuestChoice& choice, const GuestInfo& info) {
  const bool isPlugin = !choice.providerLibrary.empty(), isOne = program.sets.size() == 1;
  std::vector<std::string> lines = {isPlugin ? "int main(int, char** arguments) try {" : "int main() try {"};
  lines.push_back(fmt::format("  Ort::Env env; Ort::SessionOptions options;{}{}",
                              isPlugin ? " int taken = 0; Ort::KeyValuePairs settings;" : "",
                              isOne ? "" : " std::vector<Ort::Value> y; bool right = true;"));
  for (std::string& line : optionLines(choice, info)) lines.push_back(std::move(line));
  std::vector<std::string> names;
  for (const auto* list : {&program.inputs, &program.outputs})
    for (const std::string& name : *list) names.push_back(quoted(name, kLanguage));
  lines.push_back(
      fmt::format("  Ort::Session session(env, \"model.onnx\", options); const char* const names[] = {{{}}};",
                  fmt::join(names, ", ")));
  if (!isOne)
    lines.push_back(
        fmt::format("  const auto run = [&](auto... x) {{ Ort::Value all[] = {{std::move(x)...}}; y = {}; }};",
                    runOf(program, "all")));
  return lines;
}

/// `joint` behind each but the last, `end` behind that.
void addList(std::vector<std::string>& pieces, const std::string& begin, const std::vector<std::string>& list,
             const std::string& joint, const std::string& end) {
  for (size_t i = 0; i < list.size(); ++i)
    pieces.push_back((i == 0 ? begin : "") + list[i] + (i + 1 < list.size() ? joint : end));
  if (list.empty()) pieces.push_back(begin + end);
}

/// The statements that run a set and judge it; `isLast`: and return.
std::vector<std::string> piecesOf(const Program& program, const Set& set, bool isLast) {
  std::vector<std::string> inputs, outputs, pieces;
  for (const Values& values : set.inputs) inputs.push_back(tensorOf(values));
  for (size_t i = 0; i < set.outputs.size(); ++i) outputs.push_back(judgeOf(program, set, i));
  const bool isOne = program.sets.size() == 1;
  if (isOne && inputs.empty()) inputs.push_back("Ort::Value(nullptr)");  // an array has elements
  addList(pieces, isOne ? "Ort::Value x[] = {" : "run(", inputs, ",", isOne ? "};" : ");");
  if (isOne) pieces.push_back("const auto y = " + runOf(program, "x") + ";");
  if (isLast)
    addList(pieces, isOne ? "return " : "return right & ", outputs, " &", " ? 0 : 1;");
  else
    addList(pieces, "right &= ", outputs, " &", ";");
  return pieces;
}

}  // namespace
}  // namespace cpp

bool isTypeOfCpp(DType dtype) { return cpp::cppTypeOf(dtype).name != nullptr; }
bool isComparedInCpp(DType dtype) { return isTypeOfCpp(dtype) && !cpp::cppTypeOf(dtype).isCode; }

std::string writeCpp(const Program& program, const GuestChoice& choice, const GuestInfo& info) {
  std::vector<std::string> lines = cpp::front(program, choice, info);
  const std::string judge = fmt::format(fmt::runtime(cpp::kJudge), cpp::digitsOf(program),
                                        program.signOfZero ? cpp::kErrorWithSign : cpp::kError);
  addLines(lines, program.readsFiles ? cpp::kTensorOfFile : cpp::kTensorOfValues);
  addLines(lines, judge);
  for (std::string& line : cpp::mainLines(program, choice, info)) lines.push_back(std::move(line));
  std::vector<std::string> pieces;
  const size_t runs = program.sets.size() + (program.sets.size() > 1 ? 1 : 0);
  for (size_t k = 0; k < runs; ++k)
    for (std::string& piece : cpp::piecesOf(program, program.sets[k % program.sets.size()], k + 1 == runs))
      pieces.push_back(std::move(piece));
  const size_t used = lines.size() + 1;
  for (std::string& line : linesOf(pieces, kMostLines - std::min(used, kMostLines - 1), "  "))
    lines.push_back(std::move(line));
  lines.push_back("} catch (const std::exception& error) { return std::puts(error.what()), 1; }");
  return joined(lines);
}

}  // namespace opkit::harness::show
