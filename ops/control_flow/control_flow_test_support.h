// Models with subgraphs, and sessions of them, for the tests of control flow.
#pragma once

#include <gtest/gtest.h>

#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"

namespace opkit::ops::control_flow {

inline std::vector<std::string> backends() {
#ifdef OPKIT_HAS_VULKAN
  return {"cpu", "vulkan"};
#else
  return {"cpu"};
#endif
}

inline const TensorDesc kAnything{};  // subgraph inputs accept any shape

inline Tensor floats(const Shape& shape, const std::vector<float>& values) {
  return *Tensor::fromValues<float>({DType::Float32, shape}, values);
}

inline void addNode(Model& model, const char* type, std::vector<TensorId> inputs, std::vector<Subgraph> subgraphs,
                    size_t outputCount, ParamBytes params = {}) {
  model.outputs = model.addNode(type, "control", std::move(inputs), std::move(params), outputCount);
  model.nodes.back().subgraphs = std::move(subgraphs);
}

inline std::unique_ptr<Session> sessionOf(const Model& model, SessionConfig config) {
  auto interpreter = Interpreter::create(model, builtinOps());
  EXPECT_TRUE(interpreter) << interpreter.error().toString();
  config.threads = 1;
  auto session = (*interpreter)->createSession(config);
  EXPECT_TRUE(session) << session.error().toString();
  return *std::move(session);
}

inline std::vector<float> read(const Session& session, const std::string& name) {
  const std::span<float> values = session.output(name)->data<float>();
  return {values.begin(), values.end()};
}

}  // namespace opkit::ops::control_flow
