// A PluginSet over a few operators, and models of one chain of them. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/backend/backend_registry.h"
#include "engine/base/where.h"
#include "engine/plugin/plugin_set.h"
#include "engine/runtime/session.h"
#include "engine/testing/test_ops.h"

namespace opkit {

/// The operators of the engine's tests, and two that the samples speak of.
inline OpRegistry baseOps() {
  OpRegistry registry = test::makeTestOps();
  for (const char* type : {"Relu", "Neg"}) {
    OpDef def = *registry.find("Negate");
    def.type = type;
    if (def.type == "Relu")
      def.oracle = [](const OracleArgs& args) {
        for (size_t i = 0; i < args.input(0).real.size(); ++i)
          args.output().real[i] = std::max(0.0, args.input(0).real[i]);
        return Status::ok();
      };
    registry.add(std::move(def));
  }
  return registry;
}

class PluginSetFixture : public testing::Test {
 protected:
  static std::string sample(const std::string& name) { return partOfBuild(OPKIT_SAMPLES) + "/lib" + name + ".so"; }
  static std::string faulty(const std::string& name) {
    return partOfBuild(OPKIT_FAULTY) + "/libfaulty_" + name + ".so";
  }

  void load(const std::string& path) {
    const auto info = set_.load(path);
    ASSERT_TRUE(info) << info.error().toString();
  }
  /// One line that names the file and holds `part`; nothing was registered.
  void expectRefused(const std::string& path, const std::string& part) {
    const size_t operators = set_.registry().all().size();
    const size_t backends = backendKinds().size();
    const std::set<std::string> providers = set_.registry().providers();
    const auto info = set_.load(path);
    ASSERT_FALSE(info);
    const std::string message = info.error().message();
    EXPECT_NE(message.find(part), std::string::npos) << "expected: " << part << "\nfound: " << message;
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(set_.registry().all().size(), operators);
    EXPECT_EQ(backendKinds().size(), backends);
    EXPECT_EQ(set_.registry().providers(), providers);
  }

  /// x f32[2,3] through one node; `json` are its attributes.
  Model modelOf(const std::vector<std::string>& types, const std::string& json = "{}") const {
    Model model;
    TensorId tensor = model.addInput("x", {DType::Float32, {2, 3}});
    model.inputs = {tensor};
    for (const std::string& type : types) {
      const OpDef* def = set_.registry().find(type);
      EXPECT_TRUE(def) << type;
      const auto params = paramsFromJson(def->params, def->params.verify ? json : "{}");
      EXPECT_TRUE(params) << params.error().toString();
      tensor = model.addNode(type, "n" + std::to_string(model.nodes.size()), {tensor}, *params)[0];
    }
    model.outputs = {tensor};
    return model;
  }

  Result<std::vector<float>> run(Model model, const SessionConfig& config = {}) {
    OPKIT_ASSIGN(const auto interpreter, Interpreter::create(std::move(model), set_.registry()));
    OPKIT_ASSIGN(const auto session, interpreter->createSession(config));
    const std::span<float> x = session->fillInput("x")->data<float>();
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 2.0f;
    OPKIT_TRY(session->run());
    placement_ = session->placement();
    const std::span<float> y = session->output(session->outputNames()[0])->data<float>();
    return std::vector<float>(y.begin(), y.end());
  }
  void expectFault(const std::string& how, const std::string& part, const std::string& type = "com.test::Faulty",
                   const SessionConfig& config = {}) {
    const auto result = run(modelOf({type}, nlohmann::json{{"how", how}}.dump()), config);
    ASSERT_FALSE(result) << how;
    EXPECT_NE(result.error().message().find(part), std::string::npos) << how << ": " << result.error().message();
    EXPECT_EQ(result.error().message().find('\n'), std::string::npos);
  }

  const OpRegistry base_ = baseOps();
  PluginSet set_{base_, OnnxRules()};
  std::vector<Placement> placement_;
};

}  // namespace opkit
