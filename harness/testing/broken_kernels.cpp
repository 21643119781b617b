#include "harness/testing/broken_kernels.h"

namespace opkit::harness {

void addBroken(OpRegistry& registry, const std::string& backend, Break how, const std::shared_ptr<Instances>& instances,
               std::unique_ptr<Execution> (*make)(Break how, Backend& backend)) {
  const auto supports = [](const CreateArgs& args) {
    return args.input(0).dtype == DType::Float32 ? Status::ok() : Status::unsupported("Relu: broken only for f32");
  };
  const auto create = [how, make, instances](const CreateArgs&, Backend& on) -> Result<std::unique_ptr<Execution>> {
    const size_t number = ++instances->made;
    const bool broken = instances->broken == 0 || instances->broken == number;
    return make(broken ? how : Break::Nothing, on);
  };
  registry.addFirstCreator(backend, "Relu", {.provider = "broken", .supports = supports, .create = create});
}

}  // namespace opkit::harness
