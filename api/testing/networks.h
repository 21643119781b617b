// Networks in files, for tests of the library.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "api/opkit.h"
#include "engine/backend/device_test_support.h"
#include "engine/model/model.h"

namespace opkit::api {

/// The file NAME.opk of this process.
inline std::string saved(const Model& model, const std::string& name) {
  const std::string path = testing::TempDir() + name + ".opk";
  EXPECT_TRUE(writeFile(path, *writeModel(model)).isOk());
  return path;
}

/// y = -x, of two rows.
inline std::string negFile() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {2, kDynamic}});
  model.outputs = model.addNode("Neg", "y", {x});
  return saved(model, "neg");
}

}  // namespace opkit::api
