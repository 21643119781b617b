#include "harness/cases/costs.h"

#include <algorithm>
#include <charconv>
#include <queue>
#include <sstream>

#include "harness/cases/data.h"
#include "harness/cases/rng.h"

namespace opkit::harness {

extern const char* const kRecordedCosts;  // costs.tsv, embedded by the build

namespace {

constexpr const char* kOthers = "*";

/// The outputs, and the FLOPs of the card. Data are made only for cards that read them.
void addOutputs(const Case& c, const OpDef& def, CaseWork& work) {
  const auto params = paramsFromJson(def.params, c.params);
  if (!params) return;
  std::vector<std::optional<Tensor>> made(c.inputs.size());
  std::vector<const TensorDesc*> descs;
  std::vector<const Tensor*> contents;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Port* const port = portOf(def.inputs, i);
    if (c.inputs[i] && port && port->contents)
      if (auto input = makeInput(c, def, i)) made[i] = *std::move(input);
    descs.push_back(c.inputs[i] ? &*c.inputs[i] : nullptr);
    contents.push_back(made[i] ? &*made[i] : nullptr);
  }
  const ShapeArgs args{*params, descs, contents, std::max<size_t>(c.outputs, 1)};
  const auto outputs = inferShapes(def, args);
  if (!outputs) return;
  for (const TensorDesc& output : *outputs) {
    const auto elements = static_cast<double>(output.elements());
    work.elements += elements * 1e-6;
    if (elements > 0)
      work.rows += elements / static_cast<double>(output.shape.empty() ? 1 : output.shape.back()) * 1e-4;
  }
  if (def.flops) work.flops = def.flops(args, *outputs) * 1e-9;
}

/// The weight of a sample's squared error.
double weightOf(const CostSample& sample) { return 1 / (sample.seconds + 0.02); }

}  // namespace

CaseWork workOf(const Case& c, const OpDef& def) {
  CaseWork work;
  for (const auto& input : c.inputs) {
    if (!input) continue;
    work.elements += static_cast<double>(input->elements()) * 1e-6;
    for (const int64_t extent : input->shape) work.steps = std::max(work.steps, static_cast<double>(extent) * 1e-4);
  }
  addOutputs(c, def, work);
  return work;
}

uint64_t hashOf(const CaseGroup& group) {
  Case first = group.cases.front();
  first.seed = kDefaultSeed;
  return hashText(first.id());
}

Result<CaseCosts> CaseCosts::parse(const std::string& text) {
  CaseCosts costs;
  std::istringstream lines(text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string op, backend;
    words >> op >> backend;
    if (op == "core" || op == "brief") {
      uint64_t hash = 0;
      const char* const end = backend.data() + backend.size();
      const auto [at, error] = std::from_chars(backend.data(), end, hash, 16);
      if (error != std::errc() || at != end || !(words >> std::ws).eof())
        return Status::invalidArgument("line {}: expected {} and a hash, got '{}'", number, op, line);
      (op == "core" ? costs.core_ : costs.briefCore_).insert(hash);
      continue;
    }
    RecordedCost cost;
    for (double& rate : cost.rates) words >> rate;
    if (!(words >> cost.most) || !(words >> std::ws).eof())
      return Status::invalidArgument("line {}: expected an operator, a backend and {} numbers, got '{}'", number,
                                     cost.rates.size() + 1, line);
    costs.costs_[{op, backend}] = cost;
  }
  return costs;
}

const CaseCosts& CaseCosts::builtin() {
  static const CaseCosts costs = [] {
    auto parsed = parse(kRecordedCosts);
    OPKIT_CHECK(parsed);  // a test reads the file too
    return *std::move(parsed);
  }();
  return costs;
}

double CaseCosts::seconds(const std::string& op, const CaseWork& work, const std::string& backend) const {
  auto found = costs_.find({op, backend});
  if (found == costs_.end()) found = costs_.find({kOthers, backend});
  if (found == costs_.end()) return 0;
  const auto parts = work.parts();
  double seconds = 0;
  for (size_t i = 0; i < parts.size(); ++i) seconds += found->second.rates[i] * parts[i];
  return std::min(seconds, found->second.most);
}

bool CaseCosts::knows(const std::string& op) const {
  const auto found = costs_.lower_bound({op, ""});
  return found != costs_.end() && found->first.first == op;
}

/// Coordinate descent on the normal equations, which are tiny.
CostRates fitRates(const std::vector<CostSample>& samples) {
  constexpr size_t kParts = CaseWork::kParts;
  constexpr int kRounds = 2000;
  std::array<std::array<double, kParts>, kParts> products{};
  std::array<double, kParts> targets{};
  for (const CostSample& sample : samples) {
    const auto parts = sample.work.parts();
    for (size_t i = 0; i < kParts; ++i) {
      targets[i] += weightOf(sample) * parts[i] * sample.seconds;
      for (size_t j = 0; j < kParts; ++j) products[i][j] += weightOf(sample) * parts[i] * parts[j];
    }
  }
  CostRates rates{};
  for (int round = 0; round < kRounds; ++round)
    for (size_t i = 0; i < kParts; ++i) {
      double rest = targets[i];
      for (size_t j = 0; j < kParts; ++j) rest -= j == i ? 0 : products[i][j] * rates[j];
      rates[i] = products[i][i] > 0 ? std::max(rest / products[i][i], 0.0) : 0;
    }
  return rates;
}

std::vector<size_t> cheapestCover(const std::vector<Offer>& offers) {
  std::set<size_t> missing;
  for (const Offer& offer : offers) missing.insert(offer.brings.begin(), offer.brings.end());
  const auto gainOf = [&](size_t i) {
    const auto isNew = [&](size_t item) { return missing.contains(item); };
    return static_cast<double>(std::ranges::count_if(offers[i].brings, isNew)) / (offers[i].seconds + 1e-4);
  };
  // Gains only shrink: an offer that is still first after its gain was counted anew is the best.
  std::priority_queue<std::pair<double, size_t>> best;
  for (size_t i = 0; i < offers.size(); ++i) best.emplace(gainOf(i), i);
  std::vector<size_t> chosen;
  while (!missing.empty()) {
    const size_t i = best.top().second;
    best.pop();
    const double gain = gainOf(i);
    if (!best.empty() && gain < best.top().first) {
      best.emplace(gain, i);
      continue;
    }
    chosen.push_back(i);
    for (const size_t item : offers[i].brings) missing.erase(item);
  }
  return chosen;
}

}  // namespace opkit::harness
