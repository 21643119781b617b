// For tests of host kernels: runs one operator on a backend through its creator table, as a session would.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "engine/backend/backend_registry.h"
#include "engine/backend/op_runner.h"
#include "engine/op/op_registry.h"

namespace opkit::testing {

/// One operator on one backend. Resizing it again keeps the Execution, as a session does.
class KernelRunner {
 public:
  KernelRunner(const OpRegistry& registry, const std::string& backend, size_t threads = 1)
      : registry_(registry),
        runtime_(*createRuntime(backend)),
        backend_(std::move(*runtime_->createBackend(registry, {.threads = threads}))) {}

  /// Chooses a kernel for these inputs; those marked in `constant` are promised not to change.
  void create(const std::string& type, const ParamBytes& params, const std::vector<Tensor>& inputs,
              const std::vector<bool>& constant = {}) {
    def_ = registry_.find(type);
    params_ = params;
    bind(inputs);
    std::vector<const Tensor*> constants(inputs.size(), nullptr);
    for (size_t i = 0; i < constant.size(); ++i)
      if (constant[i]) constants[i] = &inputs_[i];
    const CreateArgs args{*def_, params_, descs_, outputDescs_, constants, backend_->caps()};
    choice_ = chooseCreator(backend_->creators(*def_), args, policy);
    ASSERT_TRUE(choice_.creator);
    execution_ = std::move(*choice_.creator->create(args, *backend_));
  }

  /// Runs on poisoned outputs. Inputs that the kernel declares unread are not passed.
  std::vector<float> run(const std::vector<Tensor>& inputs) {
    bind(inputs);
    std::vector<Tensor> withoutMemory = inputs_;
    std::vector<const Tensor*> list;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!execution_->readsInput(i)) withoutMemory[i].buffer = nullptr;
      list.push_back(&withoutMemory[i]);
    }
    const Tensor output = *Tensor::onHost(outputDescs_[0]);
    std::ranges::fill(output.bytes(), std::byte{0xFF});
    const std::vector<OpCall> calls = {{execution_.get(), list, {&output}}};
    const auto recording = recordCalls(*backend_, calls);
    EXPECT_TRUE(recording) << recording.error().toString();
    const uint64_t allocations = backend_->counters().allocations;
    const Status ran = (*recording)->run();
    EXPECT_TRUE(ran.isOk()) << ran.toString();
    EXPECT_EQ(backend_->counters().allocations, allocations) << "onExecute allocated";
    const auto data = output.data<float>();
    return {data.begin(), data.end()};
  }

  ProviderPolicy policy;  // the policy of create()

  const Choice& choice() const { return choice_; }
  const Backend& backend() const { return *backend_; }

 private:
  void bind(const std::vector<Tensor>& inputs) {
    inputs_ = inputs;
    descs_.clear();
    for (const Tensor& input : inputs_) descs_.push_back(&input.desc);
    const std::vector<const Tensor*> contents(inputs_.size(), nullptr);
    const auto outputs = inferShapes(*def_, {params_, descs_, contents, 1});
    ASSERT_TRUE(outputs) << outputs.error().toString();
    outputDescs_ = *outputs;
  }

  const OpRegistry& registry_;
  std::shared_ptr<Runtime> runtime_;
  std::unique_ptr<Backend> backend_;
  const OpDef* def_ = nullptr;
  ParamBytes params_;
  std::vector<Tensor> inputs_;
  std::vector<const TensorDesc*> descs_;
  std::vector<TensorDesc> outputDescs_;
  Choice choice_;
  std::unique_ptr<Execution> execution_;
};

/// A host tensor of small integers, whose sums of products are exact in any order.
inline Tensor smallIntegers(const Shape& shape, uint32_t seed) {
  const Tensor tensor = *Tensor::onHost({DType::Float32, shape});
  std::mt19937 random(seed);
  for (float& value : tensor.data<float>()) value = static_cast<float>(static_cast<int>(random() % 7) - 3);
  return tensor;
}

/// Expects the fast kernel (provider opkit, behind `refusals` or more that refuse) to agree bit for bit with the
/// oracle, on one thread and on several, with constant and with changing weights (input 1).
inline void expectKernelMatchesOracle(const OpRegistry& registry, const std::string& type, const ParamBytes& params,
                                      const std::vector<Tensor>& inputs, size_t refusals) {
  KernelRunner reference(registry, "reference");
  reference.create(type, params, inputs);
  const std::vector<float> expected = reference.run(inputs);
  for (const size_t threads : {1, 3}) {
    for (const bool constant : {false, true}) {
      KernelRunner fast(registry, "cpu", threads);
      fast.create(type, params, inputs, {false, constant});
      EXPECT_EQ(fast.choice().creator->provider, "opkit");
      EXPECT_GE(fast.choice().refusals.size(), refusals);
      EXPECT_EQ(fast.run(inputs), expected) << threads << " threads, constant weights " << constant;
      EXPECT_EQ(fast.run(inputs), expected) << "second run";
    }
  }
}

}  // namespace opkit::testing
