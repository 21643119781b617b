#include "fuzz/full_results.h"

#include "reports/results/record_json.h"
#include "reports/results/records.h"

namespace opkit::fuzz {
namespace {

using namespace reports;

/// Fills every field that describe() names.
struct Filler {
  template <class T>
  void operator()(const char*, T& field, Presence) const {
    fill(field);
  }
  static void fill(std::string& text) { text = "text"; }
  static void fill(JsonText& text) { text.text = R"({"a": 1})"; }
  static void fill(CaseStatus& status) { status = CaseStatus::Fail; }
  static void fill(bool& value) { value = true; }
  template <class T>
  static void fill(std::optional<T>& value) {
    fill(value.emplace());
  }
  template <class T>
  static void fill(std::vector<T>& list) {
    fill(list.emplace_back());
  }
  template <class T>
  static void fill(std::map<std::string, T>& map) {
    fill(map["cpu"]);
  }
  template <class T>
  static void fill(T& value) {
    if constexpr (std::is_arithmetic_v<T>)
      value = 1;
    else
      T::describe(value, Filler());
  }
};

template <class T>
T full() {
  T record;
  Filler::fill(record);
  record.run = "full";
  return record;
}

CaseRecord fullCase(const char* kind, const char* op) {
  CaseRecord record = full<CaseRecord>();
  record.kind = kind, record.op = op, record.backend = "cpu";
  record.id = fmt::format("{}/f32[3]/normal/seed=7", op);
  record.times["executeWall"] = record.times["cpu"];
  record.digest = record.shader = "0123456789abcdef";
  record.common = 0;
  return record;
}

}  // namespace

std::string fullResults() {
  RunRecord run = full<RunRecord>();
  run.schema = kSchema, run.started = "2026-01-01T00:00:00Z";
  PlanRecord plan = full<PlanRecord>();
  plan.shard = "1/2";
  DeviceRecord device = full<DeviceRecord>();
  device.backend = "cpu";
  CaseRecord common = fullCase("check", "Neg");
  common.common = 1;
  SummaryRecord summary = full<SummaryRecord>();
  summary.outcome = "complete";
  std::string text =
      toLine(plan) + "\n" + toLine(run) + "\n" + toLine(device) + "\n" + toLine(full<CommonRecord>()) + "\n";
  for (const char* kind : {"check", "bench", "roof", "conformance", "model"})
    text += toLine(fullCase(kind, "Relu")) + "\n";
  return text + toLine(common) + "\n" + toLine(full<MutantRecord>()) + "\n" + toLine(summary) + "\n";
}

}  // namespace opkit::fuzz
