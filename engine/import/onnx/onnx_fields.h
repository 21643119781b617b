// Rules as declarations: the attributes of a node are fields of the parameters of one operator.
//
//   using Params = LpNormParamsT;
//   rules.add("LpNormalization", nodeOf<Params>("LpNormalization", {field("axis", &Params::axis), field("p",
//   &Params::p)}));
//
// An absent attribute leaves the default of the .fbs, so that a default stands once. fuzz/attributes_test compares it
// with the specification. Each field reads and writes: a rule of fields alone is its own inverse (onnx_form.h).
#pragma once

#include <bit>
#include <limits>
#include <type_traits>

#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_rules.h"

namespace opkit {

/// What a rule does with one attribute. Without an attribute it is a value that the rule sets.
template <class Params>
struct OnnxField {
  std::vector<OnnxAttribute> attributes;
  std::function<Status(const OnnxNode&, Params&)> read;
  /// Sets the attribute unless an absent one means the same. Unsupported if ONNX cannot say it in the form's opset.
  std::function<Status(const Params&, OnnxForm&)> write;
};

namespace onnx_fields {

/// InvalidArgument if `given` does not fit into T.
template <class T>
Status toInteger(const OnnxNode& node, const std::string& name, int64_t given, T& value) {
  using Limits = std::numeric_limits<T>;
  const bool fits =
      sizeof(T) == sizeof(int64_t) || (given >= int64_t{Limits::min()} && given <= int64_t{Limits::max()});
  value = static_cast<T>(given);
  if (fits) return Status::ok();
  return Status::invalidArgument("{}: {} must be in [{}, {}], got {}", node.opType(), name, int64_t{Limits::min()},
                                 int64_t{Limits::max()}, given);
}

inline Status get(const OnnxNode& node, const std::string& name, bool& value) {
  value = node.intAttribute(name, 0) != 0;
  return Status::ok();
}
inline Status get(const OnnxNode& node, const std::string& name, float& value) {
  value = node.floatAttribute(name, 0);
  return Status::ok();
}
inline Status get(const OnnxNode& node, const std::string& name, std::string& value) {
  value = node.stringAttribute(name, "");
  return Status::ok();
}
inline Status get(const OnnxNode& node, const std::string& name, std::vector<float>& value) {
  value = node.floatsAttribute(name);
  return Status::ok();
}
inline Status get(const OnnxNode& node, const std::string& name, std::vector<std::string>& value) {
  value = node.stringsAttribute(name);
  return Status::ok();
}
template <class T>
requires std::is_integral_v<T> Status get(const OnnxNode& node, const std::string& name, T& value) {
  return toInteger(node, name, node.intAttribute(name, 0), value);
}
template <class T>
requires std::is_integral_v<T> Status get(const OnnxNode& node, const std::string& name, std::vector<T>& value) {
  value.clear();
  for (const int64_t element : node.intsAttribute(name))
    OPKIT_TRY(toInteger(node, name, element, value.emplace_back()));
  return Status::ok();
}
template <class T>
Status get(const OnnxNode& node, const std::string& name, flatbuffers::Optional<T>& value) {
  T given{};
  OPKIT_TRY(get(node, name, given));
  value = given;
  return Status::ok();
}

inline std::optional<OnnxValue> valueOf(bool value) { return int64_t{value}; }
inline std::optional<OnnxValue> valueOf(float value) { return value; }
inline std::optional<OnnxValue> valueOf(const std::string& value) { return value; }
inline std::optional<OnnxValue> valueOf(const std::vector<float>& value) { return value; }
inline std::optional<OnnxValue> valueOf(const std::vector<std::string>& value) { return value; }
template <class T>
requires std::is_integral_v<T> std::optional<OnnxValue> valueOf(T value) { return static_cast<int64_t>(value); }
template <class T>
requires std::is_integral_v<T> std::optional<OnnxValue> valueOf(const std::vector<T>& value) {
  return std::vector<int64_t>(value.begin(), value.end());
}
/// Nothing for an absent attribute.
template <class T>
std::optional<OnnxValue> valueOf(const flatbuffers::Optional<T>& value) {
  return value ? valueOf(*value) : std::nullopt;
}

template <class T>
bool equal(const T& a, const T& b) {
  return a == b;
}
/// Bit for bit: -0 is not 0.
inline bool equal(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

template <class T>
bool equal(const flatbuffers::Optional<T>& a, const flatbuffers::Optional<T>& b) {
  return a.has_value() == b.has_value() && equal(a.value_or(T{}), b.value_or(T{}));
}

/// Sets an attribute, unless an absent one means the same.
inline Status putValue(OnnxForm& form, const OnnxAttribute& attribute, const std::optional<OnnxValue>& value,
                       bool isAbsent) {
  if ((isAbsent || !value) && !attribute.isRequired) return Status::ok();
  if (!value) return Status::unsupported("{} of ONNX must have {}", form.type, attribute.name);
  if (form.opset < attribute.firstOpset || form.opset > attribute.lastOpset)
    return Status::unsupported("{} of opset {} has no attribute {}", form.type, form.opset, attribute.name);
  form.attributes.insert_or_assign(attribute.name, *value);
  return Status::ok();
}

template <class T>
Status put(OnnxForm& form, const OnnxAttribute& attribute, const T& value, const T& absent) {
  return putValue(form, attribute, valueOf(value), equal(value, absent));
}

}  // namespace onnx_fields

/// The attribute, converted to the field's type: integers to flags and narrower integers, lists to lists.
template <class Params, class T>
OnnxField<Params> field(OnnxAttribute attribute, T Params::*member) {
  return {{attribute},
          [=, name = attribute.name](const OnnxNode& node, Params& params) -> Status {
            return node.hasAttribute(name) ? onnx_fields::get(node, name, params.*member) : Status::ok();
          },
          [=, absent = Params{}.*member](const Params& params, OnnxForm& form) {
            return onnx_fields::put<T>(form, attribute, params.*member, absent);
          }};
}

/// The same where ONNX has another default than the .fbs.
template <class Params, class T>
OnnxField<Params> field(OnnxAttribute attribute, T Params::*member, std::type_identity_t<T> fallback) {
  return {{attribute},
          [=, name = attribute.name](const OnnxNode& node, Params& params) -> Status {
            params.*member = fallback;
            return node.hasAttribute(name) ? onnx_fields::get(node, name, params.*member) : Status::ok();
          },
          [=](const Params& params, OnnxForm& form) {
            return onnx_fields::put<T>(form, attribute, params.*member, fallback);
          }};
}

/// A string attribute that is one of the words.
template <class Params, class T>
OnnxField<Params> choice(OnnxAttribute attribute, T Params::*member,
                         std::vector<std::pair<const char*, std::type_identity_t<T>>> words) {
  return {{attribute},
          [=, name = attribute.name](const OnnxNode& node, Params& params) -> Status {
            if (!node.hasAttribute(name)) return Status::ok();
            OPKIT_ASSIGN(params.*member, choiceAttribute<T>(node, name, words));
            return Status::ok();
          },
          [=](const Params& params, OnnxForm& form) -> Status {
            for (const auto& [word, value] : words)
              if (value == params.*member)
                return onnx_fields::putValue(form, attribute, OnnxValue(std::string(word)), value == Params{}.*member);
            return Status::unsupported("{} of ONNX has no word for this {}", form.type, attribute.name);
          }};
}

/// An element type, by its number in ONNX, as DType's number or an enum of it.
template <class Params, class T>
OnnxField<Params> elementType(OnnxAttribute attribute, T Params::*member) {
  return {{attribute},
          [=, name = attribute.name](const OnnxNode& node, Params& params) -> Status {
            if (!node.hasAttribute(name)) return Status::ok();
            OPKIT_ASSIGN(const DType dtype, dtypeAttribute(node, name));
            params.*member = static_cast<T>(dtype);
            return Status::ok();
          },
          [=](const Params& params, OnnxForm& form) {
            const bool isAbsent = params.*member == Params{}.*member;
            const auto number =
                isAbsent && !attribute.isRequired
                    ? std::nullopt
                    : std::optional(OnnxValue(int64_t{onnxNumberOf(static_cast<DType>(params.*member))}));
            return onnx_fields::putValue(form, attribute, number, isAbsent);
          }};
}

/// An attribute that may only have its default.
template <class Params>
OnnxField<Params> only(OnnxAttribute attribute, int64_t value) {
  return {{attribute},
          [=, name = attribute.name](const OnnxNode& node, Params&) { return requireOnly(node, name, value); },
          [](const Params&, OnnxForm&) { return Status::ok(); }};
}

/// An attribute that changes no result.
template <class Params>
OnnxField<Params> ignored(OnnxAttribute attribute) {
  return {{std::move(attribute)},
          [](const OnnxNode&, Params&) { return Status::ok(); },
          [](const Params&, OnnxForm&) { return Status::ok(); }};
}

/// A parameter that the ONNX operator does not have.
template <class Params, class T>
OnnxField<Params> fixed(T Params::*member, std::type_identity_t<T> value) {
  return {{},
          [=](const OnnxNode&, Params& params) {
            params.*member = value;
            return Status::ok();
          },
          [=](const Params& params, OnnxForm& form) {
            return onnx_fields::equal<T>(params.*member, value)
                       ? Status::ok()
                       : Status::unsupported("a parameter has a value that {} of ONNX fixes otherwise", form.type);
          }};
}

template <class Params>
using OnnxFields = std::vector<OnnxField<Params>>;

/// The attributes of the fields, for OnnxRules::add.
template <class Params>
std::vector<OnnxAttribute> attributesOf(const OnnxFields<Params>& fields) {
  std::vector<OnnxAttribute> attributes;
  for (const OnnxField<Params>& one : fields)
    attributes.insert(attributes.end(), one.attributes.begin(), one.attributes.end());
  return attributes;
}

/// The parameters of a node, for rules that do more with them.
template <class Params>
Result<Params> readFields(const OnnxNode& node, const OnnxFields<Params>& fields) {
  Params params;
  for (const OnnxField<Params>& one : fields) OPKIT_TRY(one.read(node, params));
  return params;
}

/// The inverse of readFields.
template <class Params>
Status writeFields(const Params& params, const OnnxFields<Params>& fields, OnnxForm& form) {
  for (const OnnxField<Params>& one : fields) OPKIT_TRY(one.write(params, form));
  return Status::ok();
}

/// The inverse of a rule that makes nodes of `types` with these parameters. `write` gets them as a struct.
template <class Params>
OnnxInverse inverseOf(std::vector<std::string> types,
                      std::function<Status(const Params&, const OpNode&, OnnxForm&)> write) {
  return {std::move(types), [write = std::move(write)](const OpNode& node, OnnxForm& form) {
            return write(unpackParams<typename Params::TableType>(node.params), node, form);
          }};
}

/// The inverse of a rule that makes nodes of `types` from fields alone.
template <class Params>
OnnxInverse inverseOf(std::vector<std::string> types, const OnnxFields<Params>& fields) {
  return inverseOf<Params>(std::move(types), [=](const Params& params, const OpNode&, OnnxForm& form) {
    return writeFields(params, fields, form);
  });
}

/// A rule of the fields: one node of `type` with the same inputs.
template <class Params>
OnnxDeclaration nodeOf(const std::string& type, const OnnxFields<Params>& fields) {
  const auto read = [=](OnnxNode& node) -> Status {
    OPKIT_ASSIGN(const Params params, readFields(node, fields));
    return node.emit(type, node.inputs(), packParams(params));
  };
  return {attributesOf(fields), {read, inverseOf({type}, fields)}};
}

}  // namespace opkit
