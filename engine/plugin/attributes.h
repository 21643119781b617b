// AttributeSchema: the parameters of a plugin's operator, declared as a list and not as a .fbs file.
//
// The list becomes a FlatBuffers schema, so that parameters of plugins are stored, verified, parsed from JSON and
// printed like those of every operator; no generated code reads them. Immutable, shared by the cards that use it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/import/onnx/onnx_rules.h"
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

class AttributeSchema : public std::enable_shared_from_this<AttributeSchema> {
 public:
  /// InvalidArgument for a name twice, a name FlatBuffers does not take, an unknown type, a default that is not finite.
  static Result<std::shared_ptr<const AttributeSchema>> create(Attributes declared);

  /// For the card; keeps this schema alive.
  ParamsSchema paramsSchema() const;
  /// The declared attributes with the values stored in verified bytes.
  Attributes read(std::span<const uint8_t> bytes) const;
  ParamBytes pack(const Attributes& values) const;
  /// The values an ONNX node has.
  ParamBytes fromOnnx(const OnnxNode& node) const;
  std::vector<std::string> names() const;

 private:
  explicit AttributeSchema(Attributes declared);
  bool verify(std::span<const uint8_t> bytes) const;

  Attributes declared_;
  std::string text_;
};

}  // namespace opkit::plugin
