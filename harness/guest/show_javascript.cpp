// show.mjs: a program for npm's onnxruntime-node.
#include <algorithm>
#include <cctype>

#include "harness/guest/show_parts.h"

namespace opkit::harness::show {
namespace javascript {  // names of their own in a joint compilation
namespace {

constexpr Language kLanguage = Language::JavaScript;

/// A name as the key of an object.
std::string keyOf(const std::string& name) {
  const bool isPlain = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
                       std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  return isPlain ? name : quoted(name, kLanguage);
}

std::string dataOf(const Values& values) {
  const char* array = javaScriptTypeOf(values.tensor.desc.dtype)->array;
  if (!values.file.empty()) return fmt::format("new {}(read({}))", array, quoted(values.file, kLanguage));
  return fmt::format("{}.of({})", array, fmt::join(literalsOf(values.tensor, kLanguage), ", "));
}

std::string boundsOf(const Values& bounds) {
  if (!bounds.file.empty()) return dataOf(bounds);
  const auto literals = literalsOf(bounds.tensor, kLanguage);
  return literals.size() == 1 ? literals[0] : fmt::format("[{}]", fmt::join(literals, ", "));
}

std::string inputOf(const std::string& name, const Values& values) {
  const TensorDesc& desc = values.tensor.desc;
  return fmt::format("{}: new ort.Tensor('{}', {}, [{}])", keyOf(name), javaScriptTypeOf(desc.dtype)->name,
                     dataOf(values), fmt::join(desc.shape, ", "));
}

std::string outputOf(const std::string& name, const Output& output) {
  const TensorDesc& desc = output.expected.tensor.desc;
  return fmt::format("{}: ['{}', [{}], {}, {}]", keyOf(name), javaScriptTypeOf(desc.dtype)->name,
                     fmt::join(desc.shape, ", "), dataOf(output.expected), boundsOf(output.bounds));
}

/// Inputs and outputs of a set as two objects.
std::vector<std::string> piecesOf(const Program& program, const Set& set) {
  std::vector<std::string> pieces;
  for (size_t i = 0; i < set.inputs.size(); ++i)
    pieces.push_back((i == 0 ? "[{" : "") + inputOf(program.inputs[i], set.inputs[i]) + ",");
  if (pieces.empty()) pieces.push_back("[{,");
  pieces.back().back() = '}';
  pieces.back() += ",";
  for (size_t i = 0; i < set.outputs.size(); ++i)
    pieces.push_back((i == 0 ? "{" : "") + outputOf(program.outputs[i], set.outputs[i]) + ",");
  pieces.back().back() = '}';
  pieces.back() += "],";
  return pieces;
}

bool hasHalf(const Program& program) {
  return std::ranges::any_of(program.sets[0].outputs,
                             [](const Output& output) { return output.expected.tensor.desc.dtype == DType::Float16; });
}

std::vector<std::string> front(const Program& program, const GuestInfo& info) {
  const std::string provider = plainProvider(info.provider);
  std::vector<std::string> lines = {"// " + program.title,
                                    fmt::format("// npm install onnxruntime-node@{} && node show.mjs", info.version)};
  if (program.readsFiles) lines.push_back("import {readFileSync} from 'node:fs';");
  lines.push_back("import ort from 'onnxruntime-node';");
  lines.push_back(fmt::format("const options = {{executionProviders: ['{}'], graphOptimizationLevel: 'disabled'{}}};",
                              provider, provider == "cpu" ? "" : ", extra: {session: {disable_cpu_ep_fallback: '1'}}"));
  lines.push_back("const session = await ort.InferenceSession.create('model.onnx', options);");
  if (program.readsFiles) lines.push_back("const read = (name) => Uint8Array.from(readFileSync(name)).buffer;");
  if (!hasHalf(program)) return lines;
  lines.push_back(
      "const size = (c) => c < 1024 ? c * 2 ** -24 : c < 0x7c00 ? (1024 + c % 1024) * 2 ** ((c >> 10) - 25)"
      " : c > 0x7c00 ? NaN : Infinity;");
  lines.push_back("const half = (code) => (code >> 15 ? -1 : 1) * size(code & 0x7fff);");
  lines.push_back(  // newer versions of Node have numbers of this type
      "const valueOf = (type, list, i) => type === 'float16' && list instanceof Uint16Array ? half(list[i]) : "
      "list[i];");
  return lines;
}

std::vector<std::string> back(const Program& program) {
  const char* same = program.signOfZero ? "Object.is(have, want) ? 0 : have === want ? Infinity : far"
                                        : "have === want || Object.is(have, want) ? 0 : far";
  std::vector<std::string> lines = {
      fmt::format("for (const [inputs, outputs] of {}) {{", program.sets.size() > 1 ? "[...sets, sets[0]]" : "sets"),
      "  const results = await session.run(inputs);",
      "  for (const [name, [type, dims, expected, bound]] of Object.entries(outputs)) {",
      "    const got = results[name];",
      "    if (`${got.type}[${got.dims}]` !== `${type}[${dims}]`) throw new Error(`${name}: got "
      "${got.type}[${got.dims}]`);",
      "    let worst = 0;",
      "    for (let i = 0; i < expected.length; ++i) {"};
  lines.push_back(hasHalf(program) ? "      const have = valueOf(type, got.data, i), want = valueOf(type, expected, i);"
                                   : "      const have = got.data[i], want = expected[i];");
  lines.push_back(
      "      const far = Number.isFinite(have) && Number.isFinite(want) ? Math.abs(have - want) / (bound[i] ?? bound)"
      " : Infinity;");
  lines.push_back(fmt::format("      const error = {};", same));
  lines.push_back(
      "      if (i < 16 || error > worst) console.log(`${name}[${i}] got`, have, 'expected', want, 'error / bound', "
      "error);");
  for (const char* line :
       {"      worst = Math.max(worst, error);", "    }", "    if (worst > 1) process.exitCode = 1;", "  }", "}"})
    lines.push_back(line);
  return lines;
}

}  // namespace
}  // namespace javascript

std::optional<JavaScriptType> javaScriptTypeOf(DType dtype) {
  switch (dtype) {
    case DType::Float32: return JavaScriptType{"float32", "Float32Array"};
    case DType::Float16: return JavaScriptType{"float16", "Uint16Array"};
    case DType::Float64: return JavaScriptType{"float64", "Float64Array"};
    case DType::Int8: return JavaScriptType{"int8", "Int8Array"};
    case DType::UInt8: return JavaScriptType{"uint8", "Uint8Array"};
    case DType::Int16: return JavaScriptType{"int16", "Int16Array"};
    case DType::UInt16: return JavaScriptType{"uint16", "Uint16Array"};
    case DType::Int32: return JavaScriptType{"int32", "Int32Array"};
    case DType::UInt32: return JavaScriptType{"uint32", "Uint32Array"};
    case DType::Int64: return JavaScriptType{"int64", "BigInt64Array"};
    case DType::UInt64: return JavaScriptType{"uint64", "BigUint64Array"};
    case DType::Bool: return JavaScriptType{"bool", "Uint8Array"};
    default: return std::nullopt;
  }
}

std::string writeJavaScript(const Program& program, const GuestInfo& info) {
  std::vector<std::string> lines = javascript::front(program, info);
  const std::vector<std::string> judging = javascript::back(program);
  std::vector<std::string> pieces;
  for (const Set& set : program.sets)
    for (std::string& piece : javascript::piecesOf(program, set)) pieces.push_back(std::move(piece));
  pieces.front() = "const sets = [" + pieces.front();
  pieces.back().back() = ']';
  pieces.back() += ";";
  for (std::string& line : linesOf(pieces, kMostLines - lines.size() - judging.size(), "")) lines.push_back(line);
  lines.insert(lines.end(), judging.begin(), judging.end());
  return joined(lines);
}

}  // namespace opkit::harness::show
