// Rules as declarations: the attributes of a node are fields of the parameters of one operator.
//
//   using Params = LpNormParamsT;
//   rules.add("LpNormalization", nodeOf<Params>("LpNormalization", {field("axis", &Params::axis), field("p",
//   &Params::p)}));
//
// An absent attribute leaves the default of the .fbs, so that a default stands once. fuzz/attributes_test compares it
// with the specification.
#pragma once

#include <limits>
#include <type_traits>

#include "engine/import/onnx/onnx_rules.h"

namespace opkit {

/// What a rule does with one attribute. Without an attribute it is a value that the rule sets.
template <class Params>
struct OnnxField {
  std::vector<OnnxAttribute> attributes;
  std::function<Status(const OnnxNode&, Params&)> read;
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

}  // namespace onnx_fields

/// The attribute, converted to the field's type: integers to flags and narrower integers, lists to lists.
template <class Params, class T>
OnnxField<Params> field(OnnxAttribute attribute, T Params::*member) {
  const std::string name = attribute.name;
  return {{std::move(attribute)}, [=](const OnnxNode& node, Params& params) -> Status {
            return node.hasAttribute(name) ? onnx_fields::get(node, name, params.*member) : Status::ok();
          }};
}

/// The same where ONNX has another default than the .fbs.
template <class Params, class T>
OnnxField<Params> field(OnnxAttribute attribute, T Params::*member, std::type_identity_t<T> fallback) {
  const std::string name = attribute.name;
  return {{std::move(attribute)}, [=](const OnnxNode& node, Params& params) -> Status {
            params.*member = fallback;
            return node.hasAttribute(name) ? onnx_fields::get(node, name, params.*member) : Status::ok();
          }};
}

/// A string attribute that is one of the words.
template <class Params, class T>
OnnxField<Params> choice(OnnxAttribute attribute, T Params::*member,
                         std::vector<std::pair<const char*, std::type_identity_t<T>>> words) {
  const std::string name = attribute.name;
  return {{std::move(attribute)}, [=](const OnnxNode& node, Params& params) -> Status {
            if (!node.hasAttribute(name)) return Status::ok();
            OPKIT_ASSIGN(params.*member, choiceAttribute<T>(node, name, words));
            return Status::ok();
          }};
}

/// An element type, by its number in ONNX, as DType's number or an enum of it.
template <class Params, class T>
OnnxField<Params> elementType(OnnxAttribute attribute, T Params::*member) {
  const std::string name = attribute.name;
  return {{std::move(attribute)}, [=](const OnnxNode& node, Params& params) -> Status {
            if (!node.hasAttribute(name)) return Status::ok();
            OPKIT_ASSIGN(const DType dtype, dtypeAttribute(node, name));
            params.*member = static_cast<T>(dtype);
            return Status::ok();
          }};
}

/// An attribute that may only have its default.
template <class Params>
OnnxField<Params> only(OnnxAttribute attribute, int64_t value) {
  const std::string name = attribute.name;
  return {{std::move(attribute)}, [=](const OnnxNode& node, Params&) { return requireOnly(node, name, value); }};
}

/// An attribute that changes no result.
template <class Params>
OnnxField<Params> ignored(OnnxAttribute attribute) {
  return {{std::move(attribute)}, [](const OnnxNode&, Params&) { return Status::ok(); }};
}

/// A parameter that the ONNX operator does not have.
template <class Params, class T>
OnnxField<Params> fixed(T Params::*member, std::type_identity_t<T> value) {
  return {{}, [=](const OnnxNode&, Params& params) {
            params.*member = value;
            return Status::ok();
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

/// A rule of the fields: one node of `type`, or of the node's own name if that is empty, with the same inputs.
template <class Params>
OnnxDeclaration nodeOf(const std::string& type, const OnnxFields<Params>& fields) {
  return {attributesOf(fields), [=](OnnxNode& node) -> Status {
            OPKIT_ASSIGN(const Params params, readFields(node, fields));
            return node.emit(type.empty() ? node.opType() : type, node.inputs(), packParams(params));
          }};
}

}  // namespace opkit
