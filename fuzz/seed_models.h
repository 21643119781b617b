// Small models that mutations start from: together they use most of the importer, the shape rules and the file format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/mutate.h"

namespace opkit::fuzz {

struct SeedModel {
  std::string name;
  std::vector<uint8_t> onnx;
  std::vector<uint8_t> opk;            // the same model
  std::vector<Stretch> onnxConstants;  // where the values of constants stand in them
  std::vector<Stretch> opkConstants;
};

std::vector<SeedModel> seedModels();

}  // namespace opkit::fuzz
