#include "harness/cases/features.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"
#include "harness/cases/draw_params.h"
#include "harness/cases/vary.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;
using Examples = std::vector<const Case*>;
using Kind = Feature::Kind;

constexpr int64_t kLongAxis = 3000;  // beyond blocks of rows and what shared memory keeps
constexpr size_t kDrawnValues = 2;   // of an attribute, besides those in the cases
constexpr size_t kTries = 12;        // examples for one pair, many of which no case can have
constexpr const char* kOfPairs = "the pair ";

/// The inputs of data for which `is` holds.
template <class Is>
std::vector<size_t> inputsWith(const Case& c, const OpDef& def, const Is& is) {
  std::vector<size_t> list;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (c.inputs[i] && isData(c, def, i) && is(*c.inputs[i])) list.push_back(i);
  return list;
}
std::vector<size_t> dataInputs(const Case& c, const OpDef& def) {
  return inputsWith(c, def, [](const TensorDesc&) { return true; });
}

template <class Is>
bool anyExtent(const Case& c, const OpDef& def, const Is& is) {
  return !inputsWith(c, def, [&](const TensorDesc& desc) { return std::ranges::any_of(desc.shape, is); }).empty();
}

/// Some extent of `list` along a drawn axis of a drawn input.
Feature extentIn(const OpDef& def, std::string name, std::vector<int64_t> list) {
  const auto add = [&def, list](const Case& c, Rng& rng) -> std::vector<Case> {
    const auto inputs = inputsWith(c, def, [](const TensorDesc& desc) { return !desc.shape.empty(); });
    if (inputs.empty()) return {};
    const size_t input = pick(inputs, rng), rank = c.inputs[input]->shape.size();
    return grown(c, input, rng.next() % rank, pick(list, rng));
  };
  const auto has = [&def, list](const Case& c) {
    return anyExtent(c, def, [&](int64_t extent) { return std::ranges::find(list, extent) != list.end(); });
  };
  return {std::move(name), Kind::Extent, add, has};
}

enum class Along { Rows, Last, First };  // what one input repeats along: the axes but the last, the last, the first

/// True if one of two shapes of one rank has an extent of 1 where the other has not, along one axis of this kind alone.
bool repeats(const Shape& a, const Shape& b, Along along) {
  if (a.size() != b.size() || a.size() < 2) return false;
  const size_t last = a.size() - 1;
  const auto differs = [&](size_t d) { return a[d] != b[d] && std::min(a[d], b[d]) == 1; };
  if (along == Along::Last) return differs(last);
  if (along == Along::First) return differs(0);
  return differs(last - 1) && !differs(last);
}

/// Inputs of one shape, one of which repeats. Rows are long: a short one is within one block of any kernel.
Feature repeated(const OpDef& def, std::string name, Along along) {
  const auto add = [&def, along](const Case& c, Rng& rng) -> std::vector<Case> {
    const std::vector<size_t> data = dataInputs(c, def);
    if (data.size() < 2) return {};
    const Shape full = {rng.integer(2, 3), rng.integer(2, 5), rng.integer(2049, kLongAxis)};
    const size_t axis = along == Along::Last ? 2 : along == Along::First ? 0 : 1;
    Case alike = c, own = c;
    for (const size_t i : data) alike.inputs[i]->shape = full;
    const size_t input = pick(data, rng);
    alike.inputs[input]->shape[axis] = 1;
    Shape& shape = own.inputs[input]->shape;
    if (shape.size() < 2) return {alike};
    shape[along == Along::Last ? shape.size() - 1 : along == Along::First ? 0 : shape.size() - 2] = 1;
    return {alike, own};
  };
  const auto has = [&def, along](const Case& c) {
    const std::vector<size_t> data = dataInputs(c, def);
    for (const size_t a : data)
      for (const size_t b : data)
        if (repeats(c.inputs[a]->shape, c.inputs[b]->shape, along)) return true;
    return false;
  };
  return {std::move(name), Kind::Repeats, add, has};
}

/// A form of data in one of the inputs that hold floats (or bool).
Feature formed(const OpDef& def, std::string name, const std::string& form, DTypeSet dtypes) {
  const auto add = [&def, form, dtypes](const Case& c, Rng& rng) -> std::vector<Case> {
    std::vector<size_t> inputs =
        inputsWith(c, def, [&](const TensorDesc& desc) { return dtypes.contains(desc.dtype); });
    // Infinities in a second input are thresholds, coordinates and weights.
    std::erase_if(inputs, [&](size_t i) { return i > 0 && c.inputs[i]->dtype != DType::Bool; });
    if (inputs.empty()) return {};
    Case varied = c;
    setForm(varied, pick(inputs, rng), form);
    return {varied};
  };
  const auto has = [form](const Case& c) { return std::ranges::find(c.data, form) != c.data.end(); };
  return {std::move(name), Kind::Form, add, has};
}

/// The inputs that share the dtype of the first in another one of `dtypes`.
Feature inDType(const OpDef& def, std::string name, std::vector<DType> dtypes) {
  const auto add = [&def, dtypes](const Case& c, Rng& rng) -> std::vector<Case> {
    const std::vector<size_t> data = dataInputs(c, def);
    const auto isFormed = [&](size_t i) { return hasForm(c, i); };  // a form may be none for another dtype
    if (data.empty() || dtypes.empty() || std::ranges::any_of(data, isFormed)) return {};
    const DType from = c.inputs[data.front()]->dtype, to = pick(dtypes, rng);
    Case varied = c;
    for (const size_t i : data)
      if (c.inputs[i]->dtype == from && portOf(def.inputs, i)->dtypes.contains(to)) varied.inputs[i]->dtype = to;
    return {varied};
  };
  const auto has = [&def, dtypes](const Case& c) {
    const auto is = [&](const TensorDesc& desc) { return std::ranges::find(dtypes, desc.dtype) != dtypes.end(); };
    return !inputsWith(c, def, is).empty();
  };
  return {std::move(name), Kind::DType, add, has};
}

Feature constants(const OpDef& def) {
  const auto add = [&def](const Case& c, Rng&) -> std::vector<Case> {
    Case varied = c;
    for (const size_t i : dataInputs(c, def))
      if (i > 0 && !c.isConstant(i)) varied.constants.push_back(i);
    std::ranges::sort(varied.constants);
    return {varied};
  };
  return {"constant inputs", Kind::Own, add, [&def](const Case& c) {
            return std::ranges::any_of(dataInputs(c, def), [&](size_t i) { return i > 0 && c.isConstant(i); });
          }};
}

/// Scales and zero points in the shape that block_size and axis ask for.
Case fittedToBlocks(Case c, const OpDef& def) {
  const Json params = parseJson(c.params);
  const int64_t block = params.value("block_size", int64_t{0}), axis = params.value("axis", int64_t{1});
  const Shape* x = firstShape(c);
  const auto rank = x ? static_cast<int64_t>(x->size()) : 0;
  if (block < 1 || axis < -rank || axis >= rank) return c;
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  for (const size_t i : dataInputs(c, def)) {
    Shape& shape = c.inputs[i]->shape;
    if (i == 0 || shape.size() != x->size()) continue;
    shape = *x;
    shape[at] = (shape[at] + block - 1) / block;
  }
  return c;
}

/// A value that is not the default: of some case with as many axes, or drawn by the schema.
Feature attribute(const OpDef& def, const Examples& examples, const Attribute& of) {
  const auto isSet = [of](const Json& params) {
    if (!params.contains(of.name)) return false;
    const Json& value = params[of.name];
    const std::string text = value.is_boolean() ? (value.get<bool>() ? "1" : "0") : value.dump();
    return text != of.standard;
  };
  const auto add = [&def, &examples, of, isSet](const Case& c, Rng& rng) -> std::vector<Case> {
    const Json params = parseJson(c.params);
    if (isSet(params) && rng.integer(0, 1) == 0) return {c};
    std::vector<std::string> values;
    const size_t rank = firstShape(c) ? firstShape(c)->size() : 1;
    for (const Case* example : examples) {
      if (firstShape(*example) && firstShape(*example)->size() != rank) continue;
      if (const Json known = parseJson(example->params); known.contains(of.name))
        values.push_back(known[of.name].dump());
    }
    for (size_t i = 0; i < kDrawnValues; ++i) values.push_back(drawAttribute(def.params, of.name, rank, rng));
    std::erase(values, "");
    if (values.empty()) return {};
    Case varied = c;
    Json changed = params;
    changed[of.name] = parseJson(pick(values, rng));
    varied.params = changed.dump();
    return {varied, fittedToBlocks(varied, def)};
  };
  return {"attribute " + of.name, Kind::Own, add, [isSet](const Case& c) { return isSet(parseJson(c.params)); }};
}

/// Of an example that has it, since its shape and data follow from others.
Feature optionalInput(const OpDef& def, const Examples& examples, size_t input) {
  const auto has = [input](const Case& c) { return input < c.inputs.size() && c.inputs[input].has_value(); };
  const auto add = [&examples, has](const Case& c, Rng& rng) -> std::vector<Case> {
    if (has(c)) return {c};
    Examples with;
    std::ranges::copy_if(examples, std::back_inserter(with), [&](const Case* example) { return has(*example); });
    return with.empty() ? std::vector<Case>() : std::vector{*pick(with, rng)};
  };
  return {"input " + def.inputs[input].name, Kind::Own, add, has};
}

/// Dtypes that some input of data takes, without the usual ones.
std::vector<DType> otherDTypes(const OpDef& def) {
  std::vector<DType> dtypes;
  for (int i = 1; isValidDType(i); ++i) {
    const auto dtype = static_cast<DType>(i);
    const auto takes = [&](const Port& port) { return !port.contents && port.dtypes.contains(dtype); };
    if (dtype != DType::Float32 && dtype != DType::Float16 && std::ranges::any_of(def.inputs, takes))
      dtypes.push_back(dtype);
  }
  return dtypes;
}

}  // namespace

std::set<std::string> operatorsOfInfinities(const Catalogue& base) {
  std::set<std::string> ops;
  for (const CaseGroup& group : base.groups)
    for (const Case& c : group.cases)
      if (c.lane == Lane::Specials) ops.insert(c.op);
  return ops;
}

std::vector<Feature> featuresOf(const OpDef& def, const Examples& examples, bool infinities) {
  const auto data = std::ranges::count_if(def.inputs, [](const Port& port) { return !port.contents; });
  if (data == 0) return {};
  constexpr DTypeSet kReals{DType::Float32, DType::Float16, DType::Float64};
  std::vector<Feature> features = {
      extentIn(def, "an extent beside a multiple", {15, 17, 63, 65, 127, 129, 255, 257}),
      extentIn(def, "an extent of whole vectors", {16, 64, 128, 256}),
      extentIn(def, "an axis of thousands", {kLongAxis, 4097, 9000}),
      extentIn(def, "an axis over 65,536", {65537, 70001}),
      inDType(def, "f16", {DType::Float16}),
      inDType(def, "another dtype", otherDTypes(def)),
  };
  constexpr std::array kSums = {NumericClass::Products, NumericClass::Sum, NumericClass::Norm};
  if (infinities && std::ranges::find(kSums, def.numeric) == kSums.end()) {
    features.push_back(formed(def, "-Inf before each number", R"({"values":["-inf",0,1,2]})", kReals));
    features.push_back(formed(def, "NaN", R"({"values":[1,"nan",-2,0.5,3]})", kReals));
    features.push_back(
        formed(def, "half of each row hidden", R"({"pattern":"masked"})", kReals | DTypeSet(DType::Bool)));
  }
  const bool isVariadic = def.inputs.back().kind == Port::Kind::Variadic;
  if (data > 1 || isVariadic) {
    features.push_back(constants(def));
    features.push_back(repeated(def, "one input repeats along rows of thousands", Along::Last));
    features.push_back(repeated(def, "one input repeats each row of thousands", Along::Rows));
    features.push_back(repeated(def, "one input repeats along the first axis", Along::First));
  }
  for (const Attribute& of : attributesOf(def.params)) features.push_back(attribute(def, examples, of));
  for (size_t i = 0; i < def.inputs.size(); ++i)
    if (def.inputs[i].kind == Port::Kind::Optional) features.push_back(optionalInput(def, examples, i));
  return features;
}

bool isDrawnPair(const Case& c) { return c.name.starts_with(std::string("drawn for ") + kOfPairs); }

std::vector<Place> placesOfPairs(const OpDef& def, const Examples& examples, bool infinities) {
  const std::vector<Feature> features = featuresOf(def, examples, infinities);
  std::vector<Place> places;
  for (size_t b = 1; b < features.size(); ++b)
    for (size_t a = 0; a < b; ++a) {
      if (features[a].kind == features[b].kind && features[a].kind != Kind::Own) continue;
      // One candidate in each order: an example more leads further than a variation more.
      const auto vary = [a = features[a], b = features[b]](const Case& c, const OpDef&, const Examples&, size_t,
                                                           Rng& rng) {
        std::vector<Case> both;
        const auto addBoth = [&](const Feature& first, const Feature& second) {
          const std::vector<Case> one = first.add(c, rng);
          if (one.empty()) return;
          std::vector<Case> two = second.add(pick(one, rng), rng);
          std::erase_if(two, [&](const Case& varied) { return !a.has(varied) || !b.has(varied); });
          if (!two.empty()) both.push_back(pick(two, rng));
        };
        addBoth(a, b);
        addBoth(b, a);
        return both;
      };
      places.push_back(
          {fmt::format("{}{} and {}", kOfPairs, features[a].name, features[b].name), vary, 1, kTries, true});
    }
  return places;
}

}  // namespace opkit::harness
