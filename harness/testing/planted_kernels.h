// Kernels that are wrong at one kind of place only, to measure whether the drawn cases go there. Tests only.
//
// A planted kernel is an operator's own, followed by a fault: it spoils results, or reads inputs that lost something.
// Faults know no case and no seed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/op/op_registry.h"

namespace opkit::harness {

/// A node as a fault sees it.
struct PlantedNode {
  std::vector<TensorDesc> inputs;  // those that are present
  TensorDesc output;
  std::vector<std::string> attributes;  // names of those that are not default
};

/// The elements of the first output that a fault spoils: those with (index / inner) % extent >= from.
struct Spoiled {
  int64_t inner = 1;
  int64_t extent = 1;
  int64_t from = 1;  // extent: none

  bool any() const { return from < extent; }
};

struct PlantedFault {
  std::string name;  // "beyond 65,536 elements"
  std::function<Spoiled(const PlantedNode&)> spoil = nullptr;
  std::function<void(const Tensor&)> degrade = nullptr;  // changes a copy of an input before the kernel reads it
};

struct Planted {
  std::string backend;
  std::string op;
  PlantedFault fault;

  std::string name() const { return backend + " " + op + ": " + fault.name; }
};

/// The fixed set.
std::vector<Planted> plantedKernels();

/// Puts broken copies of the operator's kernels, or of its lowering, before the right ones. Unsupported if it has none.
Status plant(OpRegistry& registry, const Planted& planted);

#ifdef OPKIT_HAS_VULKAN
/// Of an Execution on Vulkan buffers of f32; the shader is testing/spoil.comp.
std::unique_ptr<Execution> spoilOnVulkan(std::unique_ptr<Execution> inner, Backend& backend, PlantedNode node,
                                         std::function<Spoiled(const PlantedNode&)> spoil);
#endif

}  // namespace opkit::harness
