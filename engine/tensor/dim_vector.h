// DimVector: one number per dimension, outermost first: the extents of a shape, its strides, an index.
//
// Up to kInside numbers lie in the object, and copying those never allocates; more are on the heap. Members are named
// and behave as those of std::vector. A moved-from object is empty. Like a vector not thread-safe.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace opkit {

class DimVector {
 public:
  using value_type = int64_t;
  using iterator = int64_t*;
  using const_iterator = const int64_t*;
  static constexpr size_t kInside = 8;

  DimVector() noexcept = default;
  DimVector(std::initializer_list<int64_t> values) : DimVector(values.begin(), values.end()) {}
  explicit DimVector(size_t count, int64_t value = 0) { resize(count, value); }
  template <std::forward_iterator It>
  DimVector(It first, It last) {
    insert(end(), first, last);
  }
  DimVector(const std::vector<int64_t>& values) : DimVector(values.begin(), values.end()) {}
  DimVector(const DimVector& other) : size_(other.size_), storage_(other.storage_) {
    if (!other.isInside()) copyFromHeap(other);
  }
  DimVector(DimVector&& other) noexcept
      : size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, kInside)),
        storage_(other.storage_) {}
  DimVector& operator=(DimVector other) noexcept {
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~DimVector() {
    if (!isInside()) delete[] storage_.heap;
  }

  std::vector<int64_t> toVector() const { return {begin(), end()}; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return isInside() ? storage_.inside : storage_.heap; }
  const int64_t* data() const { return isInside() ? storage_.inside : storage_.heap; }
  int64_t& operator[](size_t i) { return data()[i]; }
  const int64_t& operator[](size_t i) const { return data()[i]; }
  iterator begin() { return data(); }
  iterator end() { return data() + size_; }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size_; }
  auto rbegin() const { return std::reverse_iterator(end()); }
  auto rend() const { return std::reverse_iterator(begin()); }
  int64_t& front() { return data()[0]; }
  const int64_t& front() const { return data()[0]; }
  int64_t& back() { return data()[size_ - 1]; }
  const int64_t& back() const { return data()[size_ - 1]; }

  void reserve(size_t capacity);
  void resize(size_t count, int64_t value = 0);
  void clear() { size_ = 0; }
  void push_back(int64_t value) {
    if (size_ == capacity_) reserve(size_ + 1);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void assign(size_t count, int64_t value) { *this = DimVector(count, value); }
  template <std::forward_iterator It>
  void assign(It first, It last) {
    *this = DimVector(first, last);
  }
  iterator insert(const_iterator at, int64_t value) { return insert(at, &value, &value + 1); }
  iterator insert(const_iterator at, std::initializer_list<int64_t> values) {
    return insert(at, values.begin(), values.end());
  }
  /// REQUIRES values that are not in this object.
  template <std::forward_iterator It>
  iterator insert(const_iterator at, It first, It last) {
    const iterator gap = openGap(at, static_cast<size_t>(std::distance(first, last)));
    std::copy(first, last, gap);
    return gap;
  }
  iterator erase(const_iterator at) { return erase(at, at + 1); }
  iterator erase(const_iterator first, const_iterator last);

  friend bool operator==(const DimVector& a, const DimVector& b);
  friend std::strong_ordering operator<=>(const DimVector& a, const DimVector& b);

 private:
  union Storage {
    int64_t inside[kInside];
    int64_t* heap;
  };

  bool isInside() const { return capacity_ == kInside; }
  void copyFromHeap(const DimVector& other);
  /// Moves the numbers from `at` on back by `count`; returns where the gap begins.
  iterator openGap(const_iterator at, size_t count);

  size_t size_ = 0;
  size_t capacity_ = kInside;  // larger on the heap
  Storage storage_ = {};
};

}  // namespace opkit
