#include "scaffold/dtypes.h"

#include "scaffold/names.h"

namespace opkit::scaffold {
namespace {

struct NamedSet {
  const char* name;
  const char* expression;
  std::vector<std::string> members;
};

const std::vector<NamedSet>& namedSets() {
  static const std::vector<NamedSet> sets = {
      {"floats", "kFloats", {"f32", "f16", "f64"}},
      {"integers", "kIntegers", {"i32", "i8", "u8", "i16", "u16", "u32", "i64", "u64"}},
      {"numbers", "kNumbers", {"f32", "f16", "f64", "i32", "i8", "u8", "i16", "u16", "u32", "i64", "u64"}},
      {"index", "kIndexTypes", {"i64", "i32"}},
      {"bool", "kBool", {"bool"}},
      {"any", "kAnyDType", {"f32", "f16", "f64", "i32", "i8", "u8", "i16", "u16", "u32", "i64", "u64", "bool"}},
  };
  return sets;
}

const NamedSet* namedSet(const std::string& name) {
  for (const NamedSet& set : namedSets())
    if (name == set.name) return &set;
  return nullptr;
}

}  // namespace

const char* enumeratorOf(const std::string& name) {
  constexpr std::pair<const char*, const char*> kNames[] = {{"f32", "Float32"}, {"f16", "Float16"}, {"f64", "Float64"},
                                                            {"i8", "Int8"},     {"u8", "UInt8"},    {"i16", "Int16"},
                                                            {"u16", "UInt16"},  {"i32", "Int32"},   {"u32", "UInt32"},
                                                            {"i64", "Int64"},   {"u64", "UInt64"},  {"bool", "Bool"}};
  for (const auto& [shortName, enumerator] : kNames)
    if (name == shortName) return enumerator;
  return nullptr;
}

Status checkDTypes(const std::string& what, const std::string& dtypes) {
  if (namedSet(dtypes)) return Status::ok();
  const std::vector<std::string> words = splitAt(dtypes, '|');
  bool known = !words.empty();
  for (const std::string& word : words) known = known && enumeratorOf(word);
  if (known) return Status::ok();
  return Status::invalidArgument(
      "{}: expected floats, integers, numbers, index, bool, any or a list such as f32|f16, "
      "got '{}'",
      what, dtypes);
}

std::vector<std::string> dtypeNames(const std::string& dtypes) {
  const NamedSet* set = namedSet(dtypes);
  return set ? set->members : splitAt(dtypes, '|');
}

std::string dtypeExpression(const std::string& dtypes) {
  if (const NamedSet* set = namedSet(dtypes)) return set->expression;
  std::string list;
  for (const std::string& word : splitAt(dtypes, '|'))
    list += std::string(list.empty() ? "" : ", ") + "DType::" + enumeratorOf(word);
  return "DTypeSet{" + list + "}";
}

}  // namespace opkit::scaffold
