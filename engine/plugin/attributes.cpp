#include "engine/plugin/attributes.h"

#include <cmath>
#include <cstring>
#include <set>

namespace opkit::plugin {
namespace {

const char* schemaType(int32_t type) {
  switch (type) {
    case OPKIT_INT: return "long";
    case OPKIT_FLOAT: return "float";
    case OPKIT_STRING: return "string";
    case OPKIT_INTS: return "[long]";
    case OPKIT_FLOATS: return "[float]";
    default: return nullptr;
  }
}

flatbuffers::voffset_t fieldAt(size_t index) {
  return flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(index));
}

std::string schemaText(const Attributes& declared) {
  std::string text = "table Attributes {\n";
  for (const Attribute& attribute : declared) {
    text += fmt::format("  {}: {}", attribute.name, schemaType(attribute.type));
    if (attribute.type == OPKIT_INT) text += fmt::format(" = {}", attribute.integer);
    if (attribute.type == OPKIT_FLOAT) text += fmt::format(" = {}", attribute.number);
    text += ";\n";
  }
  return text + "}\nroot_type Attributes;\n";
}

Status checkDeclared(const Attributes& declared) {
  std::set<std::string> names;
  for (const Attribute& attribute : declared) {
    if (!schemaType(attribute.type))
      return Status::invalidArgument("attribute '{}': expected a type from OPKIT_INT (1) to OPKIT_FLOATS (5), got {}",
                                     attribute.name, attribute.type);
    if (!std::isfinite(attribute.number))
      return Status::invalidArgument("attribute '{}': its default must be finite", attribute.name);
    if (!names.insert(attribute.name).second)
      return Status::invalidArgument("attribute '{}' is declared twice", attribute.name);
  }
  return Status::ok();
}

/// Copies: the elements of a foreign buffer need not be aligned.
template <class T>
std::vector<T> elementsOf(const flatbuffers::Table& table, flatbuffers::voffset_t field) {
  const auto* vector = table.GetPointer<const flatbuffers::Vector<T>*>(field);
  std::vector<T> elements(vector ? vector->size() : 0);
  if (!elements.empty()) std::memcpy(elements.data(), vector->Data(), elements.size() * sizeof(T));
  return elements;
}

}  // namespace

AttributeSchema::AttributeSchema(Attributes declared) : declared_(std::move(declared)), text_(schemaText(declared_)) {}

Result<std::shared_ptr<const AttributeSchema>> AttributeSchema::create(Attributes declared) {
  OPKIT_TRY(checkDeclared(declared));
  std::shared_ptr<const AttributeSchema> schema(new AttributeSchema(std::move(declared)));
  if (schema->declared_.empty()) return schema;
  // Whatever FlatBuffers reserves ("table", "struct") cannot be a name.
  if (const auto parsed = paramsFromJson(schema->paramsSchema(), "{ }"); !parsed)
    return Status::invalidArgument("the attribute names do not form a schema: {}", parsed.error().message());
  return schema;
}

ParamsSchema AttributeSchema::paramsSchema() const {
  if (declared_.empty()) return {};
  return {text_, [self = shared_from_this()](std::span<const uint8_t> bytes) { return self->verify(bytes); }};
}

bool AttributeSchema::verify(std::span<const uint8_t> bytes) const {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  const flatbuffers::uoffset_t root = verifier.VerifyOffset(0);
  if (root == 0) return false;
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(bytes.data() + root);
  if (!table->VerifyTableStart(verifier)) return false;
  for (size_t i = 0; i < declared_.size(); ++i) {
    const flatbuffers::voffset_t field = fieldAt(i);
    bool good = false;
    switch (declared_[i].type) {
      case OPKIT_INT: good = table->VerifyField<int64_t>(verifier, field, alignof(int64_t)); break;
      case OPKIT_FLOAT: good = table->VerifyField<float>(verifier, field, alignof(float)); break;
      case OPKIT_STRING:
        good = table->VerifyOffset(verifier, field) &&
               verifier.VerifyString(table->GetPointer<const flatbuffers::String*>(field));
        break;
      case OPKIT_INTS:
        good = table->VerifyOffset(verifier, field) &&
               verifier.VerifyVector(table->GetPointer<const flatbuffers::Vector<int64_t>*>(field));
        break;
      case OPKIT_FLOATS:
        good = table->VerifyOffset(verifier, field) &&
               verifier.VerifyVector(table->GetPointer<const flatbuffers::Vector<float>*>(field));
        break;
    }
    if (!good) return false;
  }
  return verifier.EndTable();
}

Attributes AttributeSchema::read(std::span<const uint8_t> bytes) const {
  Attributes values = declared_;
  if (bytes.empty()) return values;
  const auto& table = *flatbuffers::GetRoot<flatbuffers::Table>(bytes.data());
  for (size_t i = 0; i < values.size(); ++i) {
    Attribute& value = values[i];
    const flatbuffers::voffset_t field = fieldAt(i);
    switch (value.type) {
      case OPKIT_INT: value.integer = table.GetField<int64_t>(field, value.integer); break;
      case OPKIT_FLOAT: value.number = table.GetField<float>(field, value.number); break;
      case OPKIT_STRING:
        if (const auto* text = table.GetPointer<const flatbuffers::String*>(field)) value.text = text->str();
        break;
      case OPKIT_INTS: value.integers = elementsOf<int64_t>(table, field); break;
      case OPKIT_FLOATS: value.numbers = elementsOf<float>(table, field); break;
    }
  }
  return values;
}

ParamBytes AttributeSchema::pack(const Attributes& values) const {
  if (declared_.empty()) return {};
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::uoffset_t> offsets(values.size(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].type == OPKIT_STRING) offsets[i] = builder.CreateString(values[i].text).o;
    if (values[i].type == OPKIT_INTS) offsets[i] = builder.CreateVector(values[i].integers).o;
    if (values[i].type == OPKIT_FLOATS) offsets[i] = builder.CreateVector(values[i].numbers).o;
  }
  const flatbuffers::uoffset_t start = builder.StartTable();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].type == OPKIT_INT)
      builder.AddElement<int64_t>(fieldAt(i), values[i].integer, declared_[i].integer);
    else if (values[i].type == OPKIT_FLOAT)
      builder.AddElement<float>(fieldAt(i), values[i].number, declared_[i].number);
    else
      builder.AddOffset(fieldAt(i), flatbuffers::Offset<void>(offsets[i]));
  }
  builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(start)));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

ParamBytes AttributeSchema::fromOnnx(const OnnxNode& node) const {
  Attributes values = declared_;
  for (Attribute& value : values) {
    if (!node.hasAttribute(value.name)) continue;
    switch (value.type) {
      case OPKIT_INT: value.integer = node.intAttribute(value.name, value.integer); break;
      case OPKIT_FLOAT: value.number = node.floatAttribute(value.name, value.number); break;
      case OPKIT_STRING: value.text = node.stringAttribute(value.name, value.text); break;
      case OPKIT_INTS: value.integers = node.intsAttribute(value.name); break;
      case OPKIT_FLOATS: value.numbers = node.floatsAttribute(value.name); break;
    }
  }
  return pack(values);
}

std::vector<std::string> AttributeSchema::names() const {
  std::vector<std::string> names;
  for (const Attribute& attribute : declared_) names.push_back(attribute.name);
  return names;
}

}  // namespace opkit::plugin
