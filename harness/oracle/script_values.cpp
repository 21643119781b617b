#include "harness/oracle/script_values.h"

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/cases/data.h"
#include "harness/cases/vary.h"
#include "harness/check/prepared.h"
#include "harness/check/trust.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr double kMostWhole = 0x1p53;
constexpr int64_t kFew = 8;  // elements of all inputs

/// As case files write it: whole numbers without a fraction.
Json jsonOf(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const bool isWhole =
      value == std::floor(value) && std::fabs(value) < kMostWhole && !(value == 0 && std::signbit(value));
  return isWhole ? Json(static_cast<int64_t>(value)) : Json(value);
}

double rounded(double value) {
  return std::isfinite(value) ? std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr) : value;
}

std::string formOf(const OracleTensor& tensor) {
  Json values = Json::array();
  for (const double value : tensor.real) values.push_back(jsonOf(value));
  for (const int64_t value : tensor.integer)
    if (tensor.desc.dtype == DType::Bool)
      values.push_back(value != 0);
    else if (tensor.desc.dtype == DType::UInt64)
      values.push_back(static_cast<uint64_t>(value));
    else
      values.push_back(value);
  return Json{{"values", values}}.dump();
}

int64_t elementsOf(const std::optional<TensorDesc>& input) { return input ? input->elements() : 1; }

bool isSmall(const Case& c) {
  return std::ranges::all_of(c.inputs, [](const auto& input) { return elementsOf(input) <= kMostStored; });
}

bool isEmpty(const Case& c) {
  return std::ranges::any_of(c.inputs, [](const auto& input) { return elementsOf(input) == 0; });
}

/// With half of the largest extent, of inputs that are too large if there are any.
std::optional<Case> smaller(const Case& c) {
  int64_t largest = 1;
  for (const auto& input : c.inputs)
    if (input && (input->elements() > kMostStored || isSmall(c)))
      for (const int64_t extent : input->shape) largest = std::max(largest, extent);
  if (largest == 1) return std::nullopt;
  return withExtent(c, largest, largest / 2);
}

/// The largest small case, or else the first: a large one is worth more than few elements.
std::optional<Case> startOf(const CaseGroup& group) {
  const auto sizeOf = [](const Case& c) {
    int64_t sum = 0;
    for (const auto& input : c.inputs) sum += elementsOf(input);
    return isSmall(c) ? sum : kFew;
  };
  std::optional<Case> best;
  for (const Case& c : group.cases)
    if (!isEmpty(c) && (!best || sizeOf(c) > sizeOf(*best))) best = c;
  return best;
}

class Storing {
 public:
  Storing(const OpDef& def, const OpRegistry& registry, ScriptOracle& script, const std::string& source)
      : def_(def), registry_(registry), script_(script), source_(source) {}

  /// Unsupported if the case, with any smaller extents, cannot be stored.
  Result<Case> stored(Case c) const {
    for (const auto& input : c.inputs)
      if (input && isObject(input->dtype)) return Status::unsupported("{} has no numbers", input->toString());
    if (!c.departures.empty())
      return Status::unsupported("{} departs from the bound in {}", c.departures.begin()->first, c.inputText());
    while (true) {
      if (isSmall(c)) {
        OPKIT_ASSIGN(const Case literal, literalOf(c));
        const PreparedCase prepared = prepareCase(literal, registry_, &script_);
        if (!prepared.status.isOk()) return Status::unsupported("{}: {}", c.inputText(), prepared.status.message());
        if (areSmall(prepared.expected)) return withValues(literal, prepared);
      }
      std::optional<Case> next = smaller(c);
      if (!next) return Status::unsupported("an output has more than {} elements", kMostStored);
      c = *std::move(next);
    }
  }

 private:
  static bool areSmall(const std::vector<OracleTensor>& outputs) {
    return std::ranges::all_of(outputs, [](const OracleTensor& output) { return output.elements() <= kMostStored; });
  }

  /// With the inputs as values, and without what holds for the original's shape.
  Result<Case> literalOf(const Case& c) const {
    Case literal;
    literal.op = c.op;
    literal.params = c.params;
    literal.inputs = c.inputs;
    literal.lane = c.lane == Lane::Normal ? Lane::Designed : c.lane;
    literal.constants = c.constants;
    literal.outputs = c.outputs;
    literal.name = storedName(source_);
    literal.boundScale = c.boundScale;
    literal.reason = c.reason;
    literal.fallback = c.fallback;
    literal.unproved = c.unproved;
    OPKIT_ASSIGN(const auto inputs, makeInputs(c, def_));
    for (const auto& input : inputs) {
      OracleTensor wide = input ? OracleTensor::fromTensor(*input) : OracleTensor();
      std::ranges::transform(wide.real, wide.real.begin(), rounded);
      literal.data.push_back(input ? formOf(wide) : "");
    }
    return literal;
  }

  Result<Case> withValues(Case literal, PreparedCase prepared) const {
    const SecondOracle second = *std::move(prepared.second);
    if (second.status.code() == StatusCode::Unsupported) return second.status;
    if (second.expected.empty())
      return Status::invalidArgument("{}", second.status.message()).withContext(literal.id());
    prepared.second.reset();
    prepared.expected = second.expected;
    for (const Status& trust : {checkZeros(def_, prepared), checkBounds(def_, prepared)})
      if (!trust.isOk()) return Status::unsupported("{}: {}", literal.inputText(), trust.message());
    for (const OracleTensor& output : second.expected) literal.expected.push_back(formOf(output));
    literal.source = source_;
    return literal;
  }

  const OpDef& def_;
  const OpRegistry& registry_;
  ScriptOracle& script_;
  const std::string& source_;
};

}  // namespace

std::string storedName(const std::string& source) { return "values of " + source; }

Result<ScriptValues> valuesOfScript(const Catalogue& catalogue, const OpRegistry& registry, ScriptOracle& script,
                                    const std::string& source) {
  ScriptValues values;
  const auto leaveOut = [&](const std::string& why) {
    if (values.leftOut++ == 0) values.why = why;
  };
  for (const CaseGroup& group : catalogue.groups) {
    const Case& first = group.cases.front();
    if (!first.expected.empty()) continue;
    const std::optional<Case> start = startOf(group);
    if (!start) {
      leaveOut(fmt::format("{} has no elements", first.inputText()));
      continue;
    }
    const auto made = Storing(*registry.find(first.op), registry, script, source).stored(*start);
    if (!made && made.error().code() != StatusCode::Unsupported) return made.error();
    if (!made)
      leaveOut(made.error().message());
    else if (std::ranges::none_of(values.cases, [&](const Case& c) { return c.id() == made->id(); }))
      values.cases.push_back(*made);
  }
  return values;
}

}  // namespace opkit::harness
