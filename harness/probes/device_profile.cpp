#include "harness/probes/device_profile.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/backend/op_runner.h"
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "harness/compare/tolerance.h"
#include "shaders/probes/numeric_probe.h"

namespace opkit::harness {
namespace {

// Numbers as in numeric_probe.comp.
enum class Function : uint32_t { Times, MaxOf, MaxWith, MinOf, Clamp, Plus, Fma, Exp, Log, Sin, Tanh, Sqrt, Divide };

class Probe final : public vulkan::VulkanExecution {
 public:
  Probe(Backend& backend, Function function, float other)
      : VulkanExecution(backend), function_(function), other_(other) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    using Shader = shaders::NumericProbe;
    const auto count = static_cast<uint32_t>(outputs[0]->desc.elements());
    return encoder.dispatch<Shader>({}, {.x = inputs[0], .y = outputs[0]},
                                    {.count = count, .function = static_cast<uint32_t>(function_), .other = other_},
                                    vulkan::Items{count});
  }

 private:
  Function function_;
  float other_;
};

/// f(values) on the device.
Result<std::vector<float>> runProbe(Runtime& runtime, Function function, const std::vector<float>& values,
                                    float other = 1) {
  static const OpRegistry none;
  OPKIT_ASSIGN(const auto backend, runtime.createBackend(none, {}));
  const TensorDesc desc{DType::Float32, {static_cast<int64_t>(values.size())}};
  const TensorDesc* const input = &desc;
  OPKIT_ASSIGN(const Tensor host, Tensor::fromValues(desc, values));
  OpRunner runner(*backend, std::make_unique<Probe>(*backend, function, other));
  OPKIT_TRY(runner.place({&input, 1}, {&desc, 1}));
  OPKIT_TRY(runner.upload(0, host));
  OPKIT_TRY(runner.resize());
  OPKIT_TRY(runner.run());
  OPKIT_TRY(runner.download(0, host));
  return std::vector<float>(host.data<float>().begin(), host.data<float>().end());
}

struct TraitProbe {
  const char* name;
  Function function;
  float value, other;
  bool (*present)(float result);
};

bool isNan(float v) { return std::isnan(v); }

const std::vector<TraitProbe>& traitProbes() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  static const std::vector<TraitProbe> list = {
      {"keeps denormals", Function::Times, 0x1p-140f, 1, [](float v) { return v == 0x1p-140f; }},
      {"makes denormals", Function::Times, 0x1p-100f, 0x1p-30f, [](float v) { return v == 0x1p-130f; }},
      {"max(NaN, 1) is NaN", Function::MaxOf, kNan, 1, isNan},
      {"max(1, NaN) is NaN", Function::MaxWith, kNan, 1, isNan},
      {"min(NaN, 1) is NaN", Function::MinOf, kNan, 1, isNan},
      {"clamp(NaN, 0, 1) is NaN", Function::Clamp, kNan, 1, isNan},
      {"NaN + 1 is NaN", Function::Plus, kNan, 1, isNan},
      {"Inf * 2 is Inf", Function::Times, kInf, 2, [](float v) { return v == kInf; }},
      {"-0 * 1 is -0", Function::Times, -0.0f, 1, [](float v) { return v == 0 && std::signbit(v); }},
      // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the last term is lost if the product is rounded first.
      {"fma rounds once", Function::Fma, 1 + 0x1p-12f, 1 + 0x1p-11f, [](float v) { return v == 0x1p-24f; }},
  };
  return list;
}

struct BuiltinProbe {
  const char* name;
  Function function;
  float low, high, other;
  double (*exact)(double x);
};

const std::vector<BuiltinProbe>& builtinProbes() {
  static const std::vector<BuiltinProbe> list = {
      {"exp in [-20, 20]", Function::Exp, -20, 20, 0, [](double x) { return std::exp(x); }},
      {"log in [2, 100]", Function::Log, 2, 100, 0, [](double x) { return std::log(x); }},
      {"sin in [0.1, 3]", Function::Sin, 0.1f, 3, 0, [](double x) { return std::sin(x); }},
      {"tanh in [0.01, 4]", Function::Tanh, 0.01f, 4, 0, [](double x) { return std::tanh(x); }},
      {"sqrt in [0.01, 100]", Function::Sqrt, 0.01f, 100, 0, [](double x) { return std::sqrt(x); }},
      {"1 / x in [0.01, 100]", Function::Divide, 0.01f, 100, 1, [](double x) { return 1 / x; }},
  };
  return list;
}

Result<double> worstUlp(Runtime& runtime, const BuiltinProbe& probe) {
  constexpr size_t kPoints = 4096;
  std::vector<float> values(kPoints);
  for (size_t i = 0; i < kPoints; ++i)
    values[i] = probe.low + (probe.high - probe.low) * static_cast<float>(i) / static_cast<float>(kPoints - 1);
  OPKIT_ASSIGN(const std::vector<float> got, runProbe(runtime, probe.function, values, probe.other));
  double worst = 0;
  for (size_t i = 0; i < kPoints; ++i) {
    const double exact = probe.exact(values[i]);
    const double error = std::fabs(static_cast<double>(got[i]) - exact) / ulpOf(DType::Float32, exact);
    worst = error <= worst ? worst : error;  // NaN counts
  }
  return worst;
}

}  // namespace

std::string DeviceProfile::toText() const {
  std::string text;
  for (const Trait& trait : traits)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", trait.name, trait.present ? "yes" : "no");
  for (const Builtin& builtin : builtins) text += fmt::format("; {}: {:.3g} ULP", builtin.name, builtin.ulp);
  return text + "; loops: " +
         (loopIterations == UINT64_MAX ? "no limit found"
                                       : fmt::format("{} iterations per invocation", loopIterations));
}

nlohmann::json DeviceProfile::toJson() const {
  nlohmann::json json = nlohmann::json::object();
  for (const Trait& trait : traits) json["traits"][trait.name] = trait.present;
  for (const Builtin& builtin : builtins) json["ulp"][builtin.name] = builtin.ulp;
  json["loopIterations"] = loopIterations == UINT64_MAX ? nlohmann::json() : nlohmann::json(loopIterations);
  return json;
}

Result<DeviceProfile> measureProfile(Runtime& runtime) {
  DeviceProfile profile;
  static const OpRegistry none;
  OPKIT_ASSIGN(const auto backend, runtime.createBackend(none, {}));
  profile.loopIterations = backend->caps().loopIterations;
  for (const TraitProbe& probe : traitProbes()) {
    OPKIT_ASSIGN(const std::vector<float> got, runProbe(runtime, probe.function, {probe.value}, probe.other));
    profile.traits.push_back({probe.name, probe.present(got[0])});
  }
  for (const BuiltinProbe& probe : builtinProbes()) {
    OPKIT_ASSIGN(const double ulp, worstUlp(runtime, probe));
    profile.builtins.push_back({probe.name, ulp});
  }
  return profile;
}

}  // namespace opkit::harness
