// Small networks of every kind that is loaded, resized or run by code of its own. Each takes milliseconds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/model/model.h"
#include "engine/op/op_registry.h"

namespace opkit::harness {

struct SmallNetwork {
  std::string name;
  std::vector<uint8_t> file;                  // an .onnx or .opk file
  std::map<std::string, Shape> small, large;  // two sets of shapes for its inputs
};

std::vector<SmallNetwork> smallNetworks();

/// Through an operator of the sample plugin device_and_pass, which holds no GLSL: the compiler of shaders ends the
/// process when it gets no memory.
SmallNetwork pluginNetwork();
/// The one operator beside it, and its rule: a plugin's load copies the registry.
const OpRegistry& pluginBase();
const OnnxRules& pluginBaseRules();

}  // namespace opkit::harness
