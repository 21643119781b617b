// Spec: what `op-scaffold new` was asked for, as a value that is read from a command line or a JSON file.
//
// The JSON form is versioned ("version": 1; see specToJson) so that a spec kept beside a project stays readable.
// Parsing checks grammar alone; validate.h checks names against C++, GLSL and the tree. Plain values, thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::scaffold {

inline constexpr int kSpecVersion = 1;

/// A parameter of the operator.
struct Attribute {
  std::string name;                       // snake_case
  std::string type;                       // bool, int, float, string, ints, floats
  std::string initial;                    // the default as typed; empty for zero, false, "" or an empty list
  std::vector<std::string> choices = {};  // of a string that is an enum; the first is the default
  bool operator==(const Attribute&) const = default;
};

/// An input or output.
struct PortSpec {
  std::string name;
  std::string dtypes;         // "f32", "f32|f16", "floats", "any"; empty takes the kind's
  std::string variable = {};  // "T" where the type has a name; completed() turns it into `same`
  std::string same = {};      // the type variable or the earlier input whose type this one has
  bool optional = false;
  bool contents = false;  // the shape rule needs its values
  bool operator==(const PortSpec&) const = default;
};

struct Spec {
  std::string name;  // the operator's type, UpperCamel
  std::string kind;
  std::string summary = {};  // one sentence for lists, without the full stop; empty leaves a mark
  std::vector<Attribute> attributes;
  std::vector<PortSpec> inputs;
  std::vector<PortSpec> outputs;
  std::string onnx;                                    // ONNX op type; empty takes `name`
  std::vector<std::string> backends{"cpu", "vulkan"};  // kernels to write beside the oracle
  bool tdd = false;                                    // kernels that fail until they are written
  std::string rows = {};  // of kind rowwise: "axis", "from-axis" or "groups"; empty takes the first
  bool operator==(const Spec&) const = default;

  bool has(const std::string& backend) const;
  std::string onnxType() const { return onnx.empty() ? name : onnx; }
};

/// "alpha:float=0.5" or "mode:string=nearest|linear"; InvalidArgument says what was expected.
Result<Attribute> parseAttribute(const std::string& text);
/// NAME[:TYPES][?][:contents]: "x", "x:f32|f16", "x:T=floats", "scale:T", "bias:=x?", "axes:i64:contents".
Result<PortSpec> parsePort(const std::string& text);
/// Likewise an output, which is a name alone.
Result<PortSpec> parseOutput(const std::string& text);

nlohmann::json specToJson(const Spec& spec);
/// InvalidArgument names the key that is missing, unknown or of the wrong type, or a version this build cannot read.
Result<Spec> specFromJson(const std::string& text);

}  // namespace opkit::scaffold
