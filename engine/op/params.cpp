#include "engine/op/params.h"

#include <flatbuffers/idl.h>

namespace opkit {
namespace {

flatbuffers::IDLOptions jsonOptions() {
  flatbuffers::IDLOptions options;
  options.strict_json = true;
  options.indent_step = -1;  // one line
  return options;
}

Status parseSchema(flatbuffers::Parser& parser, const ParamsSchema& schema) {
  if (!parser.Parse(std::string(schema.text).c_str()))
    return Status::internal("operator schema does not parse: {}", parser.error_);
  return Status::ok();
}

}  // namespace

bool hasAlignedVectors(const flatbuffers::Table& table, const flatbuffers::TypeTable& types) {
  for (size_t i = 0; i < types.num_elems; ++i) {
    const auto type = static_cast<flatbuffers::ElementaryType>(types.type_codes[i].base_type);
    const bool wide = type == flatbuffers::ET_LONG || type == flatbuffers::ET_ULONG || type == flatbuffers::ET_DOUBLE;
    if (!wide || !types.type_codes[i].is_repeating) continue;
    const auto field = flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(i));
    const auto* vector = table.GetPointer<const flatbuffers::Vector<int64_t>*>(field);
    // The JSON parser leaves empty ones unaligned; nobody reads their elements.
    const bool aligned = !vector || reinterpret_cast<uintptr_t>(vector->Data()) % alignof(int64_t) == 0;
    if (!aligned && vector->size() > 0) return false;
  }
  return true;
}

Status verifyParams(const ParamsSchema& schema, std::span<const uint8_t> bytes) {
  if (bytes.empty()) return Status::ok();
  if (!schema.verify) return Status::corrupt("expected no parameters, found {} bytes of them", bytes.size());
  if (!schema.verify(bytes)) return Status::corrupt("the {} parameter bytes do not match the schema", bytes.size());
  return Status::ok();
}

Result<ParamBytes> paramsFromJson(const ParamsSchema& schema, const std::string& json) {
  if (json.empty() || json == "{}") return ParamBytes{};
  if (!schema.verify) return Status::invalidArgument("expected no parameters, got {}", json);
  flatbuffers::Parser parser(jsonOptions());
  OPKIT_TRY(parseSchema(parser, schema));
  if (!parser.Parse(json.c_str())) return Status::invalidArgument("parameters {}: {}", json, parser.error_);
  const flatbuffers::FlatBufferBuilder& builder = parser.builder_;
  return ParamBytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

std::string paramsToJson(const ParamsSchema& schema, std::span<const uint8_t> bytes, bool withDefaults) {
  if ((bytes.empty() && !withDefaults) || !schema.verify) return "{}";
  flatbuffers::IDLOptions options = jsonOptions();
  options.output_default_scalars_in_json = withDefaults;
  flatbuffers::Parser parser(options);
  std::string text;
  if (!parseSchema(parser, schema).isOk()) return "{?}";
  if (bytes.empty() && !parser.Parse("{}")) return "{?}";
  const uint8_t* const data = bytes.empty() ? parser.builder_.GetBufferPointer() : bytes.data();
  return flatbuffers::GenerateText(parser, data, &text) ? text : "{?}";
}

}  // namespace opkit
