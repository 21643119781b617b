#include "engine/plugin/attribute_reader.h"

#include <flatbuffers/idl.h>

#include <cstdlib>
#include <map>

namespace opkit::plugin {
namespace {

using flatbuffers::BaseType;

/// A field of a schema. The parser that knows the schema is gone by the time values are read.
struct Field {
  Attribute byDefault;
  flatbuffers::voffset_t offset = 0;
  BaseType stored = flatbuffers::BASE_TYPE_NONE;  // of the number, or of the elements of the list
  bool optional = false;
  std::map<int64_t, std::string> names;  // of an enumeration
};

int64_t integerAt(const uint8_t* at, BaseType type) {
  switch (type) {
    case flatbuffers::BASE_TYPE_BOOL:
    case flatbuffers::BASE_TYPE_UCHAR: return *at;
    case flatbuffers::BASE_TYPE_CHAR: return flatbuffers::ReadScalar<int8_t>(at);
    case flatbuffers::BASE_TYPE_SHORT: return flatbuffers::ReadScalar<int16_t>(at);
    case flatbuffers::BASE_TYPE_USHORT: return flatbuffers::ReadScalar<uint16_t>(at);
    case flatbuffers::BASE_TYPE_INT: return flatbuffers::ReadScalar<int32_t>(at);
    case flatbuffers::BASE_TYPE_UINT: return flatbuffers::ReadScalar<uint32_t>(at);
    default: return flatbuffers::ReadScalar<int64_t>(at);
  }
}

float numberAt(const uint8_t* at, BaseType type) {
  return type == flatbuffers::BASE_TYPE_DOUBLE ? static_cast<float>(flatbuffers::ReadScalar<double>(at))
                                               : flatbuffers::ReadScalar<float>(at);
}

/// The ABI's type of a field; 0 for one that attributes cannot express.
int32_t typeOf(const flatbuffers::Type& type) {
  const bool list = type.base_type == flatbuffers::BASE_TYPE_VECTOR;
  const BaseType of = list ? type.element : type.base_type;
  if (of == flatbuffers::BASE_TYPE_STRING && !list) return OPKIT_STRING;
  if (flatbuffers::IsFloat(of)) return list ? OPKIT_FLOATS : OPKIT_FLOAT;
  if (!flatbuffers::IsInteger(of) || of == flatbuffers::BASE_TYPE_UTYPE) return 0;
  if (type.enum_def) return list ? 0 : OPKIT_STRING;
  return list ? OPKIT_INTS : OPKIT_INT;
}

Field fieldOf(const flatbuffers::FieldDef& def) {
  const flatbuffers::Type& type = def.value.type;
  const bool list = type.base_type == flatbuffers::BASE_TYPE_VECTOR;
  Field field{{def.name, typeOf(type)}, def.value.offset, list ? type.element : type.base_type, def.IsScalarOptional()};
  const char* constant = def.value.constant.c_str();
  if (field.byDefault.type == OPKIT_FLOAT) field.byDefault.number = std::strtof(constant, nullptr);
  if (field.byDefault.type == OPKIT_INT) field.byDefault.integer = std::strtoll(constant, nullptr, 10);
  if (type.enum_def && flatbuffers::IsInteger(type.base_type)) {
    for (const flatbuffers::EnumVal* value : type.enum_def->Vals()) field.names[value->GetAsInt64()] = value->name;
    field.byDefault.text = field.names[std::strtoll(constant, nullptr, 10)];
  }
  return field;
}

void readList(const flatbuffers::Table& table, const Field& field, Attribute& value) {
  const auto* list = table.GetPointer<const flatbuffers::Vector<uint8_t>*>(field.offset);
  const size_t stride = flatbuffers::SizeOf(field.stored);
  for (size_t i = 0; i < list->size(); ++i) {
    const uint8_t* at = list->Data() + i * stride;
    if (value.type == OPKIT_INTS)
      value.integers.push_back(integerAt(at, field.stored));
    else
      value.numbers.push_back(numberAt(at, field.stored));
  }
}

/// The value of a field that is stored.
Attribute valueOf(const flatbuffers::Table& table, const Field& field) {
  Attribute value = field.byDefault;
  const uint8_t* const at = table.GetAddressOf(field.offset);
  if (value.type == OPKIT_INT) value.integer = integerAt(at, field.stored);
  if (value.type == OPKIT_FLOAT) value.number = numberAt(at, field.stored);
  if (value.type == OPKIT_INTS || value.type == OPKIT_FLOATS) readList(table, field, value);
  if (value.type == OPKIT_STRING && field.stored == flatbuffers::BASE_TYPE_STRING)
    value.text = table.GetPointer<const flatbuffers::String*>(field.offset)->str();
  else if (value.type == OPKIT_STRING)
    if (const auto name = field.names.find(integerAt(at, field.stored)); name != field.names.end())
      value.text = name->second;
  return value;
}

class SchemaReader final : public AttributeReader {
 public:
  explicit SchemaReader(const ParamsSchema& schema) {
    flatbuffers::Parser parser;
    if (schema.text.empty() || !parser.Parse(std::string(schema.text).c_str()) || !parser.root_struct_def_) return;
    for (const flatbuffers::FieldDef* def : parser.root_struct_def_->fields.vec)
      if (!def->deprecated && typeOf(def->value.type) != 0) fields_.push_back(fieldOf(*def));
  }

  Attributes read(std::span<const uint8_t> bytes) const override {
    const auto* table = bytes.empty() ? nullptr : flatbuffers::GetRoot<flatbuffers::Table>(bytes.data());
    Attributes values;
    for (const Field& field : fields_) {
      const bool stored = table && table->CheckField(field.offset);
      if (stored || !field.optional) values.push_back(stored ? valueOf(*table, field) : field.byDefault);
    }
    return values;
  }

 private:
  std::vector<Field> fields_;
};

}  // namespace

std::shared_ptr<const AttributeReader> readerOf(const ParamsSchema& schema) {
  return std::make_shared<const SchemaReader>(schema);
}

}  // namespace opkit::plugin
