#include "harness/check/prepared.h"

#include <cmath>

#include "harness/cases/data.h"
#include "harness/cases/stored_shapes.h"
#include "harness/cases/stored_values.h"
#include "harness/cases/vary.h"
#include "harness/oracle/opinions.h"
#include "harness/oracle/script_oracle.h"

namespace opkit::harness {
namespace {

constexpr size_t kMaxStopBytes = size_t{1} << 20;

SecondOracle ask(ScriptOracle& script, const OpDef& def, const PreparedCase& c) {
  SecondOracle second;
  auto values = script.values(c.description, def, c.inputs, c.expected);
  if (!values) {
    second.status = values.error();
    return second;
  }
  second.expected = *std::move(values);
  if (def.oracle) second.status = checkAgreement(def, c.description, c.expected, second.expected, "the script");
  return second;
}

Status compareStored(const OpDef& def, const PreparedCase& c) {
  std::vector<TensorDesc> shapes;
  for (const OracleTensor& output : c.expected) shapes.push_back(output.desc);
  OPKIT_TRY(compareShapes(c.description, shapes));
  if (!def.oracle || c.description.expected.empty()) return Status::ok();
  OPKIT_ASSIGN(const auto values, storedValues(c.description, c.expected));
  return checkAgreement(def, c.description, c.expected, values, c.description.source);
}

Result<HostInputs> flushedInputs(HostInputs inputs) {
  for (auto& input : inputs) {
    if (!input || input->desc.dtype != DType::Float32) continue;
    OPKIT_ASSIGN(input, copyOf(*input));
    for (float& x : input->data<float>())
      if (std::fabs(x) < 0x1p-126f) x = std::copysign(0.0f, x);
  }
  return inputs;
}

Status prepare(PreparedCase& c, const OpRegistry& registry, ScriptOracle* script) {
  const OpDef* def = registry.find(c.description.op);
  if (!def) return Status::invalidArgument("unknown operator '{}'", c.description.op);
  OPKIT_ASSIGN(const ParamBytes params, paramsFromJson(def->params, c.description.params));
  OPKIT_ASSIGN(c.inputs, makeInputs(c.description, *def));
  const auto make = script && !def->oracle ? zeroOutputs : expectedOutputs;
  OPKIT_ASSIGN(c.expected, make(*def, params, c.inputs, c.description.outputs, kMaxElements));
  if (c.description.lane == Lane::Edges && def->oracle) {
    OPKIT_ASSIGN(const HostInputs flushed, flushedInputs(c.inputs));
    OPKIT_ASSIGN(c.flushed, expectedOutputs(*def, params, flushed, c.description.outputs));
  }
  const bool hasValues = def->oracle && !c.description.expected.empty();
  if (hasValues || !c.description.shapes.empty()) c.stored = compareStored(*def, c);
  if (script) c.second = ask(*script, *def, c);
  return Status::ok();
}

size_t bytesOfPrepared(const Case& c) {
  size_t bytes = 0;
  for (const auto& input : c.inputs) bytes += input ? input->sizeBytes() : 0;
  return bytes;
}

}  // namespace

std::set<size_t> coldCacheGroups(const Catalogue& catalogue) {
  std::set<std::string> seen;
  std::set<size_t> chosen;
  for (size_t g = 0; g < catalogue.groups.size(); ++g) {
    const Case& first = catalogue.groups[g].cases.front();
    if (!first.fallback.empty()) continue;
    std::string key = first.op;
    for (const auto& input : first.inputs)
      if (input) {
        key += std::string("/") + nameOf(input->dtype);
        break;
      }
    if (seen.insert(key).second) chosen.insert(g);
  }
  return chosen;
}

PreparedCase prepareCase(const Case& c, const OpRegistry& registry, ScriptOracle* script) {
  PreparedCase prepared;
  prepared.description = c;
  prepared.status = prepare(prepared, registry, script);
  return prepared;
}

PreparedGroup prepareGroup(const CaseGroup& group, const OpRegistry& registry, bool brief, ScriptOracle* script) {
  PreparedGroup prepared;
  prepared.brief = brief;
  for (const Case& c : group.cases) prepared.cases.push_back(prepareCase(c, registry, script));
  if (brief || group.cases.size() > 1 || bytesOfPrepared(group.cases[0]) > kMaxStopBytes) return prepared;
  for (const Case& stop : walkStops(group.cases[0])) {
    PreparedCase one = prepareCase(stop, registry, script);
    if (one.status.isOk()) prepared.stops.push_back(std::move(one));
  }
  return prepared;
}

}  // namespace opkit::harness
