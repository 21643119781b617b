// Kernels of the CPU made of one function, in a copy of the registry, and the results of one entry of a case file with
// them. Tests only.
#pragma once

#include <gtest/gtest.h>

#include "harness/check/check.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {

/// The results of the cases of `entry`, an entry of a case file.
inline std::vector<CaseResult> checkEntry(const OpRegistry& registry, const std::string& backend,
                                          const std::string& entry) {
  const auto runtime = createRuntime(backend, {});
  const auto catalogue = parseCaseFile("test", R"({"cases": [)" + entry + "]}", ops::builtinOps());
  EXPECT_TRUE(runtime && catalogue);
  if (!runtime || !catalogue) return {};
  Checker checker(registry, backend, *runtime);
  checker.setRuntimeOptions({});
  return checker.checkGroup(prepareGroup(catalogue->groups.front(), ops::builtinOps()));
}

class FunctionKernel final : public Execution {
 public:
  using Run = std::function<Status(TensorList inputs, TensorList outputs, Backend& backend)>;
  FunctionKernel(Run run, Backend& backend) : run_(std::move(run)), backend_(backend) {}
  Status onResize(TensorList, TensorList) override { return Status::ok(); }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    ++backend_.counters().dispatches;
    return run_(inputs, outputs, backend_);
  }

 private:
  Run run_;
  Backend& backend_;
};

/// Puts a kernel first in the table of (cpu, `op`); `make` gives each Execution its function.
inline void addFunctionKernel(OpRegistry& registry, const std::string& op,
                              const std::function<FunctionKernel::Run()>& make,
                              const std::string& provider = "broken") {
  registry.addFirstCreator(
      "cpu", op,
      {.provider = provider,
       .supports = [](const CreateArgs&) { return Status::ok(); },
       .create = [make](const CreateArgs&, Backend& backend) -> Result<std::unique_ptr<Execution>> {
         return std::unique_ptr<Execution>(std::make_unique<FunctionKernel>(make(), backend));
       }});
}

/// The built-in operators with such a kernel.
inline OpRegistry withKernel(const std::string& op, const std::function<FunctionKernel::Run()>& make) {
  OpRegistry registry = ops::builtinOps();
  addFunctionKernel(registry, op, make);
  return registry;
}

}  // namespace opkit::harness
