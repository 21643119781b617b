// ConstantStore: constants in the forms that the kernels of one device need (uploaded, packed, widened). Each is made
// once and shared by the plans of a session, its clones, and every session of a model on one Runtime.
//
// An entry is found by the identity of its source (the buffer and offset where the model keeps the values), by the name
// of the form, which states everything that the packing depends on besides the values, and by its C++ type. The store
// keeps the source alive, so that an identity is never reused. Thread-safe; while an entry is made, only threads that
// ask for the same entry wait.
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

/// Bytes of an entry of type T; overload beside T for other types.
inline size_t constantBytes(const Tensor& tensor) { return tensor.sizeBytes(); }

class ConstantStore {
 public:
  /// The result of the first `make` for (source, form). A failed `make` is called again next time. `make` must not ask
  /// the same store for the same entry.
  template <class T>
  Result<std::shared_ptr<const T>> get(const Tensor& source, const std::string& form,
                                       const std::function<Result<T>()>& make) {
    const std::shared_ptr<Entry> entry = find({source.buffer.get(), source.offsetBytes, form, typeid(T)}, source);
    const std::lock_guard lock(entry->making);
    if (!entry->value) {
      OPKIT_ASSIGN(T made, make());
      source.buffer->discard(source.offsetBytes, source.sizeBytes());  // from now on the entry is read
      entry->bytes = constantBytes(made);
      if constexpr (std::is_same_v<T, Tensor>)
        if (made.buffer != source.buffer) entry->memory = made.buffer;
      entry->value = std::make_shared<const T>(std::move(made));
      bytes_ += entry->bytes;
    }
    return std::static_pointer_cast<const T>(entry->value);
  }

  /// Sum over all entries.
  size_t bytes() const { return bytes_; }
  /// Frees unused entries whose source only the store still holds, such as constants computed for shapes that are gone.
  /// No caller can ask for them again. An entry is used while anybody holds its value or, of a tensor, its buffer.
  void dropUnreachable() { dropUnused(false); }
  /// Frees all unused entries. One that is asked for again is made again.
  void dropUnused() { dropUnused(true); }

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
    std::shared_ptr<Buffer> memory;  // of a tensor of its own: shared with the value and every recording that binds it
    size_t bytes = 0;
  };
  void dropUnused(bool alsoReachable);
  std::shared_ptr<Entry> find(const Key& key, const Tensor& source);

  std::mutex mutex_;  // of the map
  std::map<Key, std::shared_ptr<Entry>> entries_;
  std::atomic<size_t> bytes_ = 0;
};

}  // namespace opkit
