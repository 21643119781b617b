#include "engine/runtime/execution_pool.h"

#include <xxhash.h>

#include <algorithm>

#include "engine/backend/backend.h"
#include "engine/op/op_def.h"

namespace opkit {
namespace {

constexpr size_t kSmallBytes = 256;

/// True for constants that a key keeps as bytes: those of ports that the shape rule reads, and small ones, which a
/// composite operator makes anew at each resize.
bool isKeptByValue(const CreateArgs& args, size_t i) {
  const Tensor& constant = *args.constant(i);
  if (isObject(constant.desc.dtype)) return false;
  const Port* port = portOf(args.def.inputs, i);
  return (port && port->contents) || constant.sizeBytes() <= kSmallBytes;
}

class KeyWriter {
 public:
  explicit KeyWriter(std::vector<uint8_t>& bytes) : bytes_(bytes) {}

  void add(std::span<const std::byte> part) {
    const auto* first = reinterpret_cast<const uint8_t*>(part.data());
    bytes_.insert(bytes_.end(), first, first + part.size());
  }
  void add(uint64_t value) { add(std::as_bytes(std::span(&value, 1))); }
  /// With its length, so that [1], [2, 3] is not [1, 2], [3].
  void addList(const DimVector& list) {
    add(list.size());
    add(std::as_bytes(std::span(list)));
  }
  void addDType(const TensorDesc* desc) { bytes_.push_back(desc ? static_cast<uint8_t>(desc->dtype) : uint8_t{0xFF}); }
  void add(const RegionList& list) {
    add(static_cast<uint64_t>(list.fill));
    add(static_cast<uint64_t>(list.fillInput));
    for (const Region& region : list.regions) {
      add(static_cast<uint64_t>(region.source));
      add(static_cast<uint64_t>(region.sourceOffset));
      add(static_cast<uint64_t>(region.offset));
      addList(region.size);
      addList(region.sourceStrides);
      addList(region.strides);
    }
  }

 private:
  std::vector<uint8_t>& bytes_;
};

}  // namespace

ExecutionKey::ExecutionKey(const Creator& creator, const CreateArgs& args) : creator_(&creator) {
  KeyWriter key(bytes_);
  key.add(args.paramBytes.size());
  key.add(std::as_bytes(args.paramBytes));
  ends_[0] = bytes_.size();
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    key.addDType(args.inputs[i]);
    bytes_.push_back(static_cast<uint8_t>(args.layout(i)));
    const Tensor* constant = args.constant(i);
    if (!constant) continue;
    key.add(i);
    key.addList(constant->desc.shape);
    if (isKeptByValue(args, i))
      key.add(constant->bytes());
    else
      constants_.push_back({i, constant->buffer, constant->offsetBytes});
  }
  ends_[1] = bytes_.size();
  for (const TensorDesc& output : args.outputs) key.addDType(&output);
  ends_[2] = bytes_.size();
  if (args.regions) key.add(*args.regions);
  ends_[3] = bytes_.size();
  hash_ = XXH3_64bits_withSeed(bytes_.data(), bytes_.size(), reinterpret_cast<uintptr_t>(creator_));
}

bool ExecutionKey::Held::operator==(const Held& other) const {
  return input == other.input && offsetBytes == other.offsetBytes && !buffer.owner_before(other.buffer) &&
         !other.buffer.owner_before(buffer);
}

bool ExecutionKey::operator==(const ExecutionKey& other) const {
  return creator_ == other.creator_ && hash_ == other.hash_ && bytes_ == other.bytes_ && constants_ == other.constants_;
}

const char* ExecutionKey::differenceFrom(const ExecutionKey& other) const {
  constexpr std::array<const char*, 4> kParts = {"parameters", "types, layouts or small constants of inputs",
                                                 "types of outputs", "regions"};
  const auto at = static_cast<size_t>(std::ranges::mismatch(bytes_, other.bytes_).in1 - bytes_.begin());
  for (size_t i = 0; i < kParts.size(); ++i)
    if (at < ends_[i]) return kParts[i];
  return bytes_.size() == other.bytes_.size() ? "memory of constants" : "regions";
}

/// The one that returned last is compared: at a shape that was seen before it is most probably the same node's.
const char* ExecutionPool::differenceFromKept(const Creator& creator, const ExecutionKey& key) const {
  const Entry* latest = nullptr;
  for (const auto& [hash, entry] : returned_)
    if (entry.key.isOf(creator) && (!latest || entry.returned > latest->returned)) latest = &entry;
  return latest ? key.differenceFrom(latest->key) : nullptr;
}

std::string ExecutionPool::lastMade() const {
  const auto& [creator, def, difference] = lastMade_;
  if (!creator) return "";
  const std::string kernel = creator->kernel.empty() ? creator->provider : creator->provider + "/" + creator->kernel;
  if (!difference) return fmt::format("{} of {}: none was kept, it is in use or was dropped", kernel, def->type);
  return fmt::format("{} of {}: its {} differ from those of the kept one", kernel, def->type, difference);
}

Result<ExecutionPool::Lease> ExecutionPool::take(const Creator& creator, const CreateArgs& args, Backend& backend) {
  ExecutionKey key(creator, args);
  const auto [begin, end] = returned_.equal_range(key.hash());
  for (auto found = begin; found != end; ++found)
    if (found->second.key == key) return Lease(*this, returned_.extract(found));
  OPKIT_ASSIGN(auto execution, creator.create(args, backend));
  ++created_;
  lastMade_ = {&creator, &args.def, differenceFromKept(creator, key)};
  ++backend.counters().executionsCreated;
  Entries made;
  const uint64_t hash = key.hash();
  return Lease(*this, made.extract(made.emplace(hash, Entry{std::move(key), std::move(execution)})));
}

void ExecutionPool::putBack(Entries::node_type node) noexcept {
  node.mapped().execution->setScratch({});
  node.mapped().returned = ++returns_;
  returned_.insert(std::move(node));
}

void ExecutionPool::trim(size_t keep) {
  if (returned_.size() <= keep) return;
  std::vector<uint64_t> order;
  for (const auto& [hash, entry] : returned_) order.push_back(entry.returned);
  const auto oldestKept = order.end() - static_cast<std::ptrdiff_t>(keep);
  std::nth_element(order.begin(), oldestKept, order.end());
  const uint64_t least = keep == 0 ? UINT64_MAX : *oldestKept;
  std::erase_if(returned_, [&](const auto& each) { return each.second.returned < least; });
}

}  // namespace opkit
