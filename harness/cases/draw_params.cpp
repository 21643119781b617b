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

}  // namespace

std::string drawParams(const ParamsSchema& schema, size_t rank, Rng& rng) {
  flatbuffers::Parser parser;
  if (schema.text.empty() || !parser.Parse(std::string(schema.text).c_str()) || !parser.root_struct_def_) return "{}";
  Json params = Json::object();
  for (const flatbuffers::FieldDef* field : parser.root_struct_def_->fields.vec) {
    const flatbuffers::Type& type = field->value.type;
    if (rng.integer(0, 1) == 0) continue;
    if (type.base_type == flatbuffers::BASE_TYPE_VECTOR && flatbuffers::IsScalar(type.element))
      params[field->name] = drawList(type, rank, rng);
    else if (flatbuffers::IsScalar(type.base_type))
      params[field->name] = drawScalar(type, rng);
  }
  return params.dump();
}

}  // namespace opkit::harness
