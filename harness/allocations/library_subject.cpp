#include "harness/allocations/library_subject.h"

#include "api/opkit.h"
#include "engine/tensor/shape.h"

namespace opkit::harness {
namespace {

class LibrarySubject final : public Subject {
 public:
  explicit LibrarySubject(const LibraryUse& use)
      : use_(use), elements_(static_cast<size_t>(elementCount(use.shape)), 0.5f) {
    options_.threads = 2;
  }

  size_t stepCount() const override { return std::size(kNames); }
  const char* nameOf(size_t step) const override { return kNames[step]; }

  Status step(size_t i) override {
    if (i == 0) network_ = api::Network::open(use_.file, options_, error_);
    bool good = network_ != nullptr;
    if (i == 1)
      good =
          network_->setInput(use_.input, "f32", use_.shape, elements_.data(), elements_.size() * sizeof(float), error_);
    if (i == 2 || i == 4) good = network_->run(error_);
    if (i == 3) list();
    return good ? Status::ok() : failure();
  }

  std::string valuesAfter(size_t i) override {
    std::string all;
    if (i != 2 && i != 4) return all;
    for (const api::TensorInfo& output : network_->outputs()) {
      size_t bytes = 0;
      const auto* data = static_cast<const char*>(network_->output(output.name, &bytes));
      all.append(data, bytes);
    }
    return all;
  }

 private:
  static constexpr const char* kNames[] = {"open", "set the input", "run", "list", "run again"};

  /// Each is empty without memory.
  void list() {
    network_->inputs();
    network_->outputs();
    network_->placement();
    api::backends();
  }

  /// The library says no code.
  Status failure() const {
    const RefusalPause pause;
    const bool memory = error_.find("memory") != std::string::npos || error_.find("refused") != std::string::npos;
    return memory ? Status::outOfMemory("{}", error_) : Status::invalidArgument("{}", error_);
  }

  const LibraryUse& use_;
  const std::vector<float> elements_;
  api::Options options_;
  std::string error_;
  std::unique_ptr<api::Network> network_;
};

}  // namespace

Network networkOf(const LibraryUse& use) {
  return {use.name, [&use] { return std::make_unique<LibrarySubject>(use); }};
}

}  // namespace opkit::harness
