#include <cmath>
#include <limits>

#include "engine/backend/backend.h"
#include "harness/testing/broken_kernels.h"

namespace opkit::harness {
namespace {

class BrokenCpu final : public Execution {
 public:
  BrokenCpu(Break how, Backend& backend) : how_(how), backend_(backend) {}

  Status onResize(TensorList inputs, TensorList) override {
    count_ = static_cast<size_t>(inputs[0]->desc.elements());
    first_ = first_ == 0 ? count_ : first_;
    return Status::ok();
  }

  Status onExecute(TensorList inputs, TensorList outputs) override {
    ++backend_.counters().dispatches;
    const float* x = inputs[0]->data<float>().data();
    float* y = outputs[0]->data<float>().data();
    size_t count = count_;
    if (how_ == Break::DropsTailGuard) count = (count + 7) / 8 * 8;
    if (how_ == Break::KeepsStaleState) count = std::min(count, first_);
    for (size_t i = 0; i < count; ++i) {
      if (how_ == Break::LeavesOneUnwritten && i == count / 2) continue;
      y[i] = std::max(x[i], 0.0f);
      if (how_ == Break::FlipsSign) y[i] = -y[i];
      if (how_ == Break::ReturnsNan) y[i] = std::numeric_limits<float>::quiet_NaN();
    }
    if (how_ == Break::WritesPastEnd && count > 0) y[count] = 1;
    if (how_ == Break::DiffersBetweenRuns && ++runs_ % 2 == 0)
      for (size_t i = 0; i < count; ++i) y[i] = std::nextafter(y[i], 9.0f);  // well within one rounding's bound
    if (how_ == Break::AllocatesInExecute) return backend_.allocate(64).error();
    return Status::ok();
  }

 private:
  Break how_;
  Backend& backend_;
  size_t count_ = 0;
  size_t first_ = 0;
  size_t runs_ = 0;
};

}  // namespace

void addBrokenCpu(OpRegistry& registry, Break how) {
  registry.addFirstCreator(
      "cpu", "Relu",
      {"broken",
       [](const CreateArgs& args) {
         return args.input(0).dtype == DType::Float32 ? Status::ok() : Status::unsupported("Relu: broken only for f32");
       },
       [how](const CreateArgs&, Backend& backend) -> Result<std::unique_ptr<Execution>> {
         return std::unique_ptr<Execution>(std::make_unique<BrokenCpu>(how, backend));
       }});
}

}  // namespace opkit::harness
