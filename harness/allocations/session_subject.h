// SessionSubject: a network as a program uses it: read from its file, a session, two sets of shapes, several runs.
#pragma once

#include <map>
#include <string>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/plugin/plugin_set.h"
#include "engine/runtime/session.h"
#include "harness/allocations/trial.h"

namespace opkit::harness {

/// What sessions are made of. Outlives every subject.
struct Setting {
  std::string name;
  std::string file;
  std::map<std::string, Shape> small, large;  // shapes of the inputs; empty: what the model begins with
  SessionConfig config;
  bool ownsRuntime = false;                    // each session makes a device
  std::shared_ptr<Runtime> runtime = nullptr;  // shared: sessions share its device; null as above
  const OpRegistry* registry = nullptr;
  const OnnxRules* rules = nullptr;
  std::string plugin = "";  // loaded in the first step
};

Network networkOf(const Setting& setting);

}  // namespace opkit::harness
