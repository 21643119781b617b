#include "fuzz/text_kinds.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/base/where.h"
#include "engine/model/model.h"
#include "scaffold/plan.h"

namespace opkit::fuzz {

namespace {

struct Maker {
  const char* name;
  TextKind (*make)(const std::string& folder);
};
constexpr Maker kMakers[] = {
    {"history", historyKind},       {"results", resultsKind},      {"parts", partsKind},
    {"peers", peersKind},           {"series", seriesKind},        {"ops_page", opsPageKind},
    {"costs", costsKind},           {"margins", marginsKind},      {"traced", tracedKind},
    {"cases", casesKind},           {"capsule", capsuleKind},      {"expectations", expectationsKind},
    {"evidence", evidenceKind},     {"tensor", tensorKind},        {"spec", specKind},
    {"record", operatorRecordKind}, {"row_record", rowRecordKind}, {"kernel_record", kernelRecordKind},
    {"bounds", boundsKind},
};

}  // namespace

std::vector<std::string> textKindNames() {
  std::vector<std::string> names;
  for (const Maker& maker : kMakers) names.emplace_back(maker.name);
  return names;
}

TextKind textKind(const std::string& name, const std::string& folder) {
  for (const Maker& maker : kMakers)
    if (name == maker.name) return maker.make(folder);
  OPKIT_CHECK(false);
}

Trial attempt(const TextKind& kind, const Bytes& bytes) {
  Trial trial;
  const Status thrown = guarded([&]() -> Status {
    try {
      trial = kind.attempt({bytes.begin(), bytes.end()});
    } catch (const scaffold::TreeError& error) {  // as op-scaffold does
      return Status::invalidArgument("{}", error.what());
    }
    return Status::ok();
  });
  if (!thrown.isOk()) trial.status = thrown;
  return trial;
}

std::string faultOf(const Trial& trial) {
  std::vector<std::string> messages = trial.notes;
  if (!trial.status.isOk()) messages.push_back(trial.status.message());
  for (const std::string& message : messages) {
    if (message.empty()) return "no message";
    for (const char* empty : {"FAULT", "unexpected: ", "the host is out of memory", "the host cannot hold"})
      if (message.find(empty) != std::string::npos) return message;
  }
  return "";
}

Bytes sourceFile(const std::string& path) {
  auto bytes = readFile(sourceTreeAround(OPKIT_SOURCE_DIR) + "/" + path);
  OPKIT_CHECK(bytes);
  return *std::move(bytes);
}

std::string place(const std::string& folder, const std::string& name, const std::string& bytes) {
  const std::string path = folder + "/" + name;
  OPKIT_CHECK(writeFile(path, bytesOf(bytes)).isOk());
  return path;
}

}  // namespace opkit::fuzz
