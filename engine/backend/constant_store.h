// ConstantStore: constants in the forms that the kernels of one device want (uploaded, packed, widened), each made
// once and shared by all who ask: the plans of a session, its clones, and every session of a model on one Runtime.
//
// An entry is found by the identity of its source (the buffer and offset where the model keeps the values), by the
// name of the form, which says everything that the packing depends on besides the values, and by its C++ type. The
// store keeps the source alive, so that an identity is never reused. Thread-safe; an entry being made keeps only
// those waiting who want the same one.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <typeindex>

#include "engine/tensor/tensor.h"

namespace opkit {

/// What an entry of type T costs; overload beside T for other types.
inline size_t constantBytes(const Tensor& tensor) { return tensor.sizeBytes(); }

class ConstantStore {
 public:
  /// What `make` returned when (source, form) was asked for first; a failed `make` is asked again next time.
  /// `make` must not ask the same store for the same entry.
  template <class T>
  Result<std::shared_ptr<const T>> get(const Tensor& source, const std::string& form,
                                       const std::function<Result<T>()>& make) {
    const std::shared_ptr<Entry> entry = find({source.buffer.get(), source.offsetBytes, form, typeid(T)}, source);
    const std::lock_guard lock(entry->making);
    if (!entry->value) {
      OPKIT_ASSIGN(T made, make());
      entry->bytes = constantBytes(made);
      entry->value = std::make_shared<const T>(std::move(made));
      bytes_ += entry->bytes;
    }
    return std::static_pointer_cast<const T>(entry->value);
  }

  /// Of all entries there are.
  size_t bytes() const { return bytes_; }
  /// Forgets entries that nobody can ask for again, because only the store still has their source, and that nobody
  /// uses: constants that were computed for shapes which are gone.
  void dropUnreachable();

 private:
  struct Key {
    const Buffer* buffer;
    size_t offsetBytes;
    std::string form;
    std::type_index type;
    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    std::mutex making;
    std::shared_ptr<Buffer> source;     // shared: keeps the key's identity
    std::shared_ptr<const void> value;  // shared with every kernel that uses it; null until made
    size_t bytes = 0;
  };
  std::shared_ptr<Entry> find(const Key& key, const Tensor& source);

  std::mutex mutex_;  // of the map
  std::map<Key, std::shared_ptr<Entry>> entries_;
  std::atomic<size_t> bytes_ = 0;
};

}  // namespace opkit
