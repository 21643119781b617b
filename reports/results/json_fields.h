// Described structs to and from JSON. Included by record_json.cpp only.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "engine/base/json_text.h"
#include "engine/base/status.h"
#include "reports/results/records.h"

namespace opkit::reports::fields {

using Json = nlohmann::json;

template <class T>
concept Described = requires(T& value) {
  T::describe(value, [](const char*, auto&, Presence) {});
};
template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
concept List = requires(T& list) {
  list.push_back(*list.begin());
}
&&!std::is_same_v<T, std::string>;
template <class T>
concept Dictionary = requires {
  typename T::mapped_type;
};

/// JSON has no NaN and no infinity: they become strings.
inline Json encodeDouble(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

template <class T>
bool isEmpty(const T& value) {
  if constexpr (IsOptional<T>::value)
    return !value.has_value();
  else if constexpr (std::is_same_v<T, JsonText>)
    return value.text.empty();
  else if constexpr (std::is_arithmetic_v<T>)
    return value == T{};
  else if constexpr (requires { value.empty(); })
    return value.empty();
  else
    return false;
}

template <class T>
Json encode(const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    return encodeDouble(value);
  } else if constexpr (std::is_same_v<T, CaseStatus>) {
    return nameOf(value);
  } else if constexpr (std::is_same_v<T, JsonText>) {
    return parseJson(value.text);
  } else if constexpr (IsOptional<T>::value) {
    return encode(*value);
  } else if constexpr (Described<const T>) {
    Json object = Json::object();
    T::describe(value, [&](const char* name, const auto& field, Presence presence) {
      if (presence != Presence::Optional || !isEmpty(field)) object[name] = encode(field);
    });
    return object;
  } else if constexpr (Dictionary<T>) {
    Json object = Json::object();
    for (const auto& [key, each] : value) object[key] = encode(each);
    return object;
  } else if constexpr (List<T>) {
    Json list = Json::array();
    for (const auto& each : value) list.push_back(encode(each));
    return list;
  } else {
    return value;
  }
}

inline Status unexpected(const char* expected, const Json& found) {
  return Status::corrupt("expected {}, found {}", expected,
                         found.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40));
}

/// The text with "\\x1b" in place of a control character: results are printed and put into pages. Line ends and tabs
/// stay.
inline std::string withoutControls(std::string text) {
  const auto isControl = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
  };
  if (std::ranges::none_of(text, isControl)) return text;
  std::string shown;
  for (const char c : text)
    if (isControl(c))
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      shown += c;
  return shown;
}

inline Status decodeDouble(const Json& json, double& value) {
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  if (json.is_number())
    value = json.get<double>();
  else if (text == "nan")
    value = std::numeric_limits<double>::quiet_NaN();
  else if (text == "inf" || text == "-inf")
    value = text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  else
    return unexpected("a number", json);
  return Status::ok();
}

template <Number T>
Status decodeInteger(const Json& json, T& value) {
  if (!json.is_number()) return unexpected("a whole number", json);
  if (json.is_number_unsigned() && json.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max()))
    value = static_cast<T>(json.get<uint64_t>());
  else if (json.is_number_integer() && !json.is_number_unsigned() && std::is_signed_v<T> &&
           json.get<int64_t>() >= static_cast<int64_t>(std::numeric_limits<T>::min()))
    value = static_cast<T>(json.get<int64_t>());
  else
    return unexpected("a whole number", json);
  return Status::ok();
}

template <class T>
Status decode(const Json& json, T& value);

/// Reads all fields that can be read; the first failure is returned.
template <Described T>
Status decodeFields(const Json& json, T& value) {
  if (!json.is_object()) return unexpected("an object", json);
  Status failure;
  T::describe(value, [&](const char* name, auto& field, Presence) {
    const auto found = json.find(name);
    if (found == json.end() || found->is_null()) return;
    const Status status = decode(*found, field);
    if (failure.isOk() && !status.isOk()) failure = status.withContext(fmt::format("field '{}'", name));
  });
  return failure;
}

template <Dictionary T>
Status decodeDictionary(const Json& json, T& value) {
  if (!json.is_object()) return unexpected("an object", json);
  value.clear();
  for (const auto& [key, each] : json.items()) OPKIT_TRY(decode(each, value[withoutControls(key)]).withContext(key));
  return Status::ok();
}

template <List T>
Status decodeList(const Json& json, T& value) {
  if (!json.is_array()) return unexpected("a list", json);
  value.clear();
  for (const Json& each : json) OPKIT_TRY(decode(each, value.emplace_back()));
  return Status::ok();
}

template <class T>
Status decode(const Json& json, T& value) {
  if constexpr (std::is_same_v<T, double>) {
    return decodeDouble(json, value);
  } else if constexpr (std::is_same_v<T, JsonText>) {
    value.text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  } else if constexpr (IsOptional<T>::value) {
    return decode(json, value.emplace());
  } else if constexpr (Described<T>) {
    return decodeFields(json, value);
  } else if constexpr (Dictionary<T>) {
    return decodeDictionary(json, value);
  } else if constexpr (List<T>) {
    return decodeList(json, value);
  } else if constexpr (Number<T>) {
    return decodeInteger(json, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) return unexpected("true or false", json);
    value = json.get<bool>();
  } else {
    if (!json.is_string()) return unexpected("a text", json);
    if constexpr (std::is_same_v<T, CaseStatus>) {
      const auto status = statusFromName(json.get<std::string>());
      if (!status) return unexpected("a status", json);
      value = *status;
    } else {
      value = withoutControls(json.get<std::string>());
    }
  }
  return Status::ok();
}

/// The required field that the object lacks; empty if none.
template <Described T>
std::string missingField(const Json& json, const T& value) {
  std::string missing;
  T::describe(value, [&](const char* name, const auto&, Presence presence) {
    const auto found = json.find(name);
    const bool lacks =
        found == json.end() || found->is_null() || (found->is_string() && found->get_ref<const std::string&>().empty());
    if (presence == Presence::Required && lacks && missing.empty()) missing = name;
  });
  return missing;
}

/// Names of the fields of T and, after a dot, of the structs in them.
template <class T>
void collectNames(const std::string& prefix, std::vector<std::string>& names) {
  if constexpr (Described<T>) {
    T value;
    T::describe(value, [&](const char* name, auto& field, Presence) {
      names.push_back(prefix + name);
      collectNames<std::remove_reference_t<decltype(field)>>(prefix + name + ".", names);
    });
  } else if constexpr (Dictionary<T>) {
    collectNames<typename T::mapped_type>(prefix, names);
  } else if constexpr (IsOptional<T>::value || List<T>) {
    collectNames<typename T::value_type>(prefix, names);
  }
}

}  // namespace opkit::reports::fields
