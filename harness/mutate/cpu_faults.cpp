#include "harness/mutate/cpu_faults.h"

#include <cmath>
#include <cstring>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/host/host_loop.h"
#include "engine/backend/reference/oracle_execution.h"
#include "engine/tensor/float_format.h"
#include "harness/check/kernel_rig.h"

namespace opkit::harness {
namespace {

using Bytes = std::vector<std::byte>;
using Acted = std::shared_ptr<std::atomic<uint64_t>>;

/// Spoils an output, given its state before and after the kernel ran. Returns true if it changed anything.
struct Run {
  const Tensor& output;
  const Bytes& before;
  size_t number;  // of runs of this kernel, from 1
};
using Spoil = bool (*)(const Run&);

/// Of packed dtypes the bytes that they share.
size_t elementsOf(const Run& run) {
  const TensorDesc& desc = run.output.desc;
  return isPacked(desc.dtype) ? desc.sizeBytes() : static_cast<size_t>(desc.elements());
}
size_t elementBytes(const Run& run) { return bytesOf(run.output.desc.dtype, 1); }

/// Restores the former values of elements [first, last).
bool unwrite(const Run& run, size_t first, size_t last) {
  if (first >= last) return false;
  const size_t size = elementBytes(run);
  std::memcpy(run.output.bytes().data() + first * size, run.before.data() + first * size, (last - first) * size);
  return true;
}

/// Maps every element of a float output; true when one changed.
template <class Map>
bool mapFloats(const Run& run, Map&& map) {
  bool changed = false;
  if (isCodedFloat(run.output.desc.dtype)) {
    for (size_t i = 0; i < static_cast<size_t>(run.output.desc.elements()); ++i) {
      const double value = readCoded(run.output, i);
      writeCoded(run.output, i, map(value, i));
      const double stored = readCoded(run.output, i);
      changed |= stored != value && !(std::isnan(stored) && std::isnan(value));
    }
    return changed;
  }
  visitDType(run.output.desc.dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_same_v<T, Half> || std::is_floating_point_v<T>) {
      const std::span<T> elements = run.output.data<T>();
      for (size_t i = 0; i < elements.size(); ++i) {
        double value;
        if constexpr (std::is_same_v<T, Half>)
          value = toFloat(elements[i]);
        else
          value = elements[i];
        const double mapped = map(value, i);
        if (mapped == value || (std::isnan(mapped) && std::isnan(value))) continue;
        changed = true;
        if constexpr (std::is_same_v<T, Half>)
          elements[i] = toHalf(mapped);
        else
          elements[i] = static_cast<T>(mapped);
      }
    }
  });
  return changed;
}

bool lastElement(const Run& r) { return elementsOf(r) > 0 && unwrite(r, elementsOf(r) - 1, elementsOf(r)); }
bool vectorTail(const Run& r) { return unwrite(r, elementsOf(r) / 4 * 4, elementsOf(r)); }
bool threadShare(const Run& r) { return elementsOf(r) >= 4 && unwrite(r, elementsOf(r) / 2, elementsOf(r)); }

bool lastColumn(const Run& r) {
  const Shape& shape = r.output.desc.shape;
  if (shape.empty() || shape.back() < 2 || elementsOf(r) == 0 || isPacked(r.output.desc.dtype)) return false;
  const auto columns = static_cast<size_t>(shape.back());
  for (size_t at = columns - 1; at < elementsOf(r); at += columns) unwrite(r, at, at + 1);
  return true;
}

bool shifted(const Run& r) {
  const size_t size = elementBytes(r), bytes = elementsOf(r) * size;
  if (elementsOf(r) < 2) return false;
  std::byte* data = r.output.bytes().data();
  const Bytes old(data, data + bytes);
  std::memmove(data + size, data, bytes - size);
  return !std::equal(old.begin(), old.end(), data);
}

bool transposed(const Run& r) {
  const Shape& shape = r.output.desc.shape;
  if (shape.size() < 2 || elementsOf(r) == 0 || isPacked(r.output.desc.dtype)) return false;
  const auto rows = static_cast<size_t>(shape[shape.size() - 2]), columns = static_cast<size_t>(shape.back());
  const size_t size = elementBytes(r), plane = rows * columns;
  std::byte* data = r.output.bytes().data();
  const Bytes old(data, data + elementsOf(r) * size);
  for (size_t i = 0; i < elementsOf(r); ++i) {
    const size_t base = i / plane * plane, at = i % plane;
    std::memcpy(data + i * size, old.data() + (base + at % rows * columns + at / rows) * size, size);
  }
  return !std::equal(old.begin(), old.end(), data);
}

bool clampedAtZero(const Run& r) {
  return mapFloats(r, [](double v, size_t) { return v < 0 ? 0.0 : v; });
}
bool lostPrecision(const Run& r) {
  if (r.output.desc.dtype == DType::Float16) return false;  // within its rounding
  return mapFloats(r, [](double v, size_t) { return v * (1 + 0x1p-10); });
}
bool roundedToHalf(const Run& r) {
  return mapFloats(r, [](double v, size_t) { return static_cast<double>(toFloat(toHalf(v))); });
}
bool lostNan(const Run& r) {
  return mapFloats(r, [](double v, size_t) { return std::isnan(v) ? 0.0 : v; });
}
bool wrongSign(const Run& r) {
  return mapFloats(r, [](double v, size_t) { return v == 0 ? v : -v; });
}
bool race(const Run& r) {
  return r.number % 2 == 0 && mapFloats(r, [](double v, size_t i) { return i == 0 ? v + 1 + std::fabs(v) : v; });
}
bool integersOff(const Run& r) {
  if (isFloat(r.output.desc.dtype) || elementsOf(r) == 0) return false;
  std::byte& first = r.output.bytes()[0];
  first = r.output.desc.dtype == DType::Bool ? std::byte{first == std::byte{0}} : first ^ std::byte{1};
  return true;
}

/// Where a fault acts.
struct Fault {
  CpuFault about;
  Spoil spoil = nullptr;       // outputs
  bool stale = false;          // onResize happens once
  bool ignoresParams = false;  // made with every parameter at its default
  bool ignoresLast = false;    // a last optional input is not seen
  bool sameOperand = false;    // the second input is read as the first
  bool dropsTerm = false;      // the last element along the first input's last axis reads as zero
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> table = {
      {{"stale-resize", "onResize does its work only the first time"}, nullptr, true},
      {{"ignores-params", "every parameter has its default"}, nullptr, false, true},
      {{"forgets-bias", "the last optional input is not read"}, nullptr, false, false, true},
      {{"same-operand", "the second input is read as the first"}, nullptr, false, false, false, true},
      {{"drops-term", "the last element along the first input's last axis reads as zero"},
       nullptr,
       false,
       false,
       false,
       false,
       true},
      {{"last-element", "the last element is not written"}, lastElement},
      {{"vector-tail", "elements after the last block of four are not written"}, vectorTail},
      {{"thread-share", "the second half is not written"}, threadShare},
      {{"last-column", "the last column is not written"}, lastColumn},
      {{"shifted", "the output is one element late"}, shifted},
      {{"transposed", "the last two axes are swapped"}, transposed},
      {{"starts-at-zero", "negative results become 0"}, clampedAtZero},
      {{"lost-precision", "results are off by 2^-10"}, lostPrecision},
      {{"half", "results are rounded to fp16"}, roundedToHalf},
      {{"lost-nan", "NaN becomes 0"}, lostNan},
      {{"wrong-sign", "results are negated"}, wrongSign},
      {{"race", "the first element differs every second run"}, race},
      {{"integer-bit", "the lowest bit of the first integer is wrong"}, integersOff},
  };
  return table;
}

class FaultyExecution final : public Execution {
 public:
  FaultyExecution(const Fault& fault, std::unique_ptr<Execution> inner, bool lastIsHidden, Acted acted)
      : fault_(fault), inner_(std::move(inner)), lastIsHidden_(lastIsHidden), acted_(std::move(acted)) {}

  bool readsInput(size_t index) const override { return inner_->readsInput(index); }

  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    return inner_->scratchBytes(inputs, outputs);
  }

  Status onResize(TensorList inputs, TensorList outputs) override {
    before_.resize(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i]) before_[i].resize(outputs[i]->sizeBytes());
    const bool again = std::exchange(resized_, true);
    if (fault_.stale && again) {
      const bool same = std::equal(outputs.begin(), outputs.end(), shapes_.begin(), shapes_.end(),
                                   [](const Tensor* t, const Shape& s) { return t && t->desc.shape == s; });
      if (!same && !inner_->plansNothing()) ++*acted_;
      return Status::ok();
    }
    shapes_.clear();
    for (const Tensor* output : outputs) shapes_.push_back(output ? output->desc.shape : Shape());
    inner_->setScratch(scratch());
    return inner_->onResize(spoilInputs(inputs), outputs);
  }

  Status onExecute(TensorList inputs, TensorList outputs) override {
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] && outputs[i]->sizeBytes() > 0)
        std::memcpy(before_[i].data(), outputs[i]->bytes().data(), before_[i].size());
    const bool counted = countHeap(false);  // allocations of the spoiler do not count for the kernel
    const std::vector<const Tensor*> seen = spoilInputs(inputs);
    countHeap(counted);
    const Status status = inner_->onExecute(seen, outputs);
    countHeap(false);
    ++runs_;
    for (size_t i = 0; status.isOk() && fault_.spoil && i < outputs.size(); ++i)
      if (outputs[i] && fault_.spoil({*outputs[i], before_[i], runs_})) ++*acted_;
    countHeap(counted);
    return status;
  }

 private:
  std::vector<const Tensor*> spoilInputs(TensorList inputs) {
    std::vector<const Tensor*> seen(inputs.begin(), inputs.end());
    if (lastIsHidden_) seen.back() = nullptr;
    if (fault_.sameOperand && seen.size() > 1 && seen[0] && seen[1] && seen[0]->desc == seen[1]->desc) {
      seen[1] = seen[0];
      ++*acted_;
    }
    if (fault_.dropsTerm && !seen.empty() && seen[0] && seen[0]->buffer && isFloat(seen[0]->desc.dtype) &&
        seen[0]->sizeBytes() > 0 && !seen[0]->desc.shape.empty()) {
      auto copy = Tensor::onHost(seen[0]->desc);
      if (!copy) return seen;
      std::ranges::copy(seen[0]->bytes(), copy->bytes().begin());
      const size_t size = bytesOf(copy->desc.dtype, 1), row = bytesOf(copy->desc.dtype, copy->desc.shape.back());
      for (size_t at = row - size; at < copy->sizeBytes(); at += row)
        for (size_t b = 0; b < size; ++b) {
          if (copy->bytes()[at + b] != std::byte{0}) ++*acted_;
          copy->bytes()[at + b] = std::byte{0};
        }
      changed_ = *std::move(copy);
      seen[0] = &changed_;
    }
    return seen;
  }

  const Fault& fault_;
  std::unique_ptr<Execution> inner_;
  bool lastIsHidden_;
  Acted acted_;
  std::vector<Bytes> before_;
  std::vector<Shape> shapes_;
  Tensor changed_;
  size_t runs_ = 0;
  bool resized_ = false;
};

/// The kernel of `inner` with the fault around it.
Creator faulty(const Creator& inner, const Fault& fault, const Acted& acted) {
  Creator creator = inner;
  creator.create = [inner, &fault, acted](const CreateArgs& args,
                                          Backend& backend) -> Result<std::unique_ptr<Execution>> {
    std::vector<const TensorDesc*> inputs(args.inputs.begin(), args.inputs.end());
    std::vector<const Tensor*> constants(args.constants.begin(), args.constants.end());
    const Port* last = inputs.empty() ? nullptr : portOf(args.def.inputs, inputs.size() - 1);
    const bool hides = fault.ignoresLast && last && last->kind == Port::Kind::Optional && inputs.back();
    if (hides) {
      inputs.back() = nullptr;
      constants.resize(inputs.size(), nullptr);
      constants.back() = nullptr;
      ++*acted;
    }
    const bool noParams = fault.ignoresParams && !args.paramBytes.empty();
    if (noParams) ++*acted;
    const CreateArgs seen{args.def,  noParams ? std::span<const uint8_t>() : args.paramBytes,
                          inputs,    args.outputs,
                          constants, args.device};
    OPKIT_ASSIGN(auto made, inner.create(seen, backend));
    return std::unique_ptr<Execution>(std::make_unique<FaultyExecution>(fault, std::move(made), hides, acted));
  };
  return creator;
}

/// Regions with typical mistakes.
Result<std::vector<RegionList>> spoilRegions(const std::string& fault, Result<std::vector<RegionList>> lists,
                                             std::atomic<uint64_t>& acted) {
  if (!lists) return lists;
  for (RegionList& list : *lists)
    for (Region& region : list.regions) {
      const bool any = elementCount(region.size) > 0;
      if (!any || region.size.empty()) continue;
      if (fault == "last-column" && region.size.back() > 1) --region.size.back(), ++acted;
      if (fault == "shifted" && region.sourceOffset > 0) --region.sourceOffset, ++acted;
      if (fault == "same-operand" && region.source > 0) region.source = 0, ++acted;
      if (fault == "transposed" && region.size.size() > 1 && region.size[0] > 1 && region.size[1] > 1 &&
          region.sourceStrides[0] != region.sourceStrides[1]) {
        std::swap(region.sourceStrides[0], region.sourceStrides[1]);
        ++acted;
      }
    }
  if (fault == "thread-share")
    for (RegionList& list : *lists)
      if (list.regions.size() > 1) list.regions.pop_back(), ++acted;
  return lists;
}

}  // namespace

const std::vector<CpuFault>& cpuFaults() {
  static const std::vector<CpuFault> table = [] {
    std::vector<CpuFault> list;
    for (const Fault& fault : faults()) list.push_back(fault.about);
    return list;
  }();
  return table;
}

OpRegistry withFault(const OpRegistry& registry, const std::string& op, const std::string& name, const Acted& acted) {
  OpRegistry broken = registry;
  const OpDef* def = registry.find(op);
  const auto fault =
      std::find_if(faults().begin(), faults().end(), [&](const Fault& f) { return f.about.name == name; });
  OPKIT_CHECK(def && fault != faults().end());
  if (def->lower) {
    OpDef card = *def;
    card.lower = [lower = def->lower, name, acted](const ShapeArgs& args, std::span<const TensorDesc> outputs) {
      return spoilRegions(name, lower(args, outputs), *acted);
    };
    broken.replace(card);
    return broken;
  }
  std::vector<Creator> table(registry.creators("cpu", op).begin(), registry.creators("cpu", op).end());
  if (def->loop) table.push_back(hostLoopCreator(cpu::threadPool));
  if (def->oracle) table.push_back(reference::oracleCreator());
  for (size_t i = table.size(); i-- > 0;) {
    Creator creator = faulty(table[i], *fault, acted);
    creator.provider += "+" + name;
    broken.addFirstCreator("cpu", op, std::move(creator));
  }
  return broken;
}

}  // namespace opkit::harness
