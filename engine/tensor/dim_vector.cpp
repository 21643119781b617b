#include "engine/tensor/dim_vector.h"

namespace opkit {

void DimVector::copyFromHeap(const DimVector& other) {
  size_ = 0;
  insert(end(), other.begin(), other.end());
}

void DimVector::reserve(size_t capacity) {
  if (capacity <= capacity_) return;
  capacity = std::max(capacity, 2 * capacity_);
  int64_t* const heap = new int64_t[capacity];
  std::copy(begin(), end(), heap);
  if (!isInside()) delete[] storage_.heap;
  storage_.heap = heap;
  capacity_ = capacity;
}

void DimVector::resize(size_t count, int64_t value) {
  reserve(count);
  if (count > size_) std::fill(end(), begin() + count, value);
  size_ = count;
}

DimVector::iterator DimVector::openGap(const_iterator at, size_t count) {
  const auto index = static_cast<size_t>(at - begin());
  reserve(size_ + count);
  if (index < size_) std::copy_backward(begin() + index, end(), end() + count);
  size_ += count;
  return begin() + index;
}

DimVector::iterator DimVector::erase(const_iterator first, const_iterator last) {
  const iterator gap = begin() + (first - begin());
  size_ = static_cast<size_t>(std::copy(last, std::as_const(*this).end(), gap) - begin());
  return gap;
}

bool operator==(const DimVector& a, const DimVector& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

std::strong_ordering operator<=>(const DimVector& a, const DimVector& b) {
  return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace opkit
