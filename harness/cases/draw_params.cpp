#include "harness/cases/draw_params.h"

#include <flatbuffers/idl.h>

#include <nlohmann/json.hpp>

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

Json drawScalar(const flatbuffers::Type& type, Rng& rng) {
  if (type.enum_def) {
    const auto& values = type.enum_def->Vals();
    return values.empty() ? Json(0) : Json(values[rng.next() % values.size()]->name);
  }
  if (type.base_type == flatbuffers::BASE_TYPE_BOOL) return rng.integer(0, 1) == 1;
  if (flatbuffers::IsFloat(type.base_type)) {
    constexpr double kValues[] = {0.5, 1, 2, 0.125, 1e-3};
    return kValues[rng.next() % 5];
  }
  return rng.integer(rng.integer(0, 2) == 0 ? -2 : 0, 3);
}

Json drawList(const flatbuffers::Type& type, size_t rank, Rng& rng) {
  const size_t spatial = rank > 2 ? rank - 2 : 1;
  const size_t lengths[] = {rank, spatial, 2 * spatial, 2 * rank, 1};
  Json list = Json::array();
  const flatbuffers::Type element = type.VectorType();
  for (size_t i = lengths[rng.next() % 5]; i-- > 0;) list.push_back(drawScalar(element, rng));
  return list;
}

/// Null for a field that is neither.
Json drawField(const flatbuffers::Type& type, size_t rank, Rng& rng) {
  if (type.base_type == flatbuffers::BASE_TYPE_VECTOR && flatbuffers::IsScalar(type.element))
    return drawList(type, rank, rng);
  return flatbuffers::IsScalar(type.base_type) ? drawScalar(type, rng) : Json();
}

/// Calls visit(field) for each field of the table.
template <class Visit>
void forEachField(const ParamsSchema& schema, const Visit& visit) {
  flatbuffers::Parser parser;
  if (schema.text.empty() || !parser.Parse(std::string(schema.text).c_str()) || !parser.root_struct_def_) return;
  for (const flatbuffers::FieldDef* field : parser.root_struct_def_->fields.vec) visit(*field);
}

}  // namespace

std::string drawParams(const ParamsSchema& schema, size_t rank, Rng& rng) {
  Json params = Json::object();
  forEachField(schema, [&](const flatbuffers::FieldDef& field) {
    if (rng.integer(0, 1) == 0) return;
    if (Json value = drawField(field.value.type, rank, rng); !value.is_null()) params[field.name] = std::move(value);
  });
  return params.dump();
}

std::vector<Attribute> attributesOf(const ParamsSchema& schema) {
  std::vector<Attribute> attributes;
  forEachField(schema, [&](const flatbuffers::FieldDef& field) {
    attributes.push_back({field.name, field.value.constant});
  });
  return attributes;
}

std::string drawAttribute(const ParamsSchema& schema, const std::string& name, size_t rank, Rng& rng) {
  Json value;
  forEachField(schema, [&](const flatbuffers::FieldDef& field) {
    if (field.name == name) value = drawField(field.value.type, rank, rng);
  });
  return value.is_null() ? "" : value.dump();
}

}  // namespace opkit::harness
