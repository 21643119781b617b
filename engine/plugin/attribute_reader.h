// AttributeReader: the parameters of a node as the attributes that a plugin's callbacks ask for by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/op/params.h"
#include "engine/plugin/opkit_plugin.h"

namespace opkit::plugin {

struct Attribute {
  std::string name;
  int32_t type = OPKIT_INT;
  int64_t integer = 0;  // the default, or the value
  float number = 0;
  std::string text;
  std::vector<int64_t> integers;
  std::vector<float> numbers;
};
using Attributes = std::vector<Attribute>;

class AttributeReader {
 public:
  virtual ~AttributeReader() = default;
  /// The attributes with the values stored in verified bytes, or their defaults.
  virtual Attributes read(std::span<const uint8_t> bytes) const = 0;
};

/// Reads the parameters of any operator by the schema of its card: integers and bool as OPKIT_INT, floats as
/// OPKIT_FLOAT, enumerations and strings as OPKIT_STRING, lists of numbers as OPKIT_INTS and OPKIT_FLOATS. Other fields
/// are left out, as is an optional number that is not stored.
std::shared_ptr<const AttributeReader> readerOf(const ParamsSchema& schema);

}  // namespace opkit::plugin
