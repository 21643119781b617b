// AttributeSchema: the parameters of a plugin's operator, declared as a list and not as a .fbs file.
//
// The list becomes a FlatBuffers schema, so that parameters of plugins are stored, verified, parsed from JSON and
// printed like those of every operator; no generated code reads them. Immutable, shared by the cards that use it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/plugin/attribute_reader.h"

namespace opkit::plugin {

class AttributeSchema final : public AttributeReader, public std::enable_shared_from_this<AttributeSchema> {
 public:
  /// InvalidArgument for a name twice, a name FlatBuffers does not take, an unknown type, a default that is not finite.
  static Result<std::shared_ptr<const AttributeSchema>> create(Attributes declared);

  /// For the card; keeps this schema alive.
  ParamsSchema paramsSchema() const;
  Attributes read(std::span<const uint8_t> bytes) const override;
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
