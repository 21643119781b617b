// Index: a position in one kind of list, or absent. IndexedVector: a vector that only this kind of index addresses.
//
//   using TensorId = Index<struct TensorTag>;
//   IndexedVector<TensorId, TensorDesc> descs;
//   const TensorId first = descs.push_back(desc);
//   if (first) use(descs[first]);
#pragma once

#include <fmt/format.h>

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "engine/base/check.h"

namespace opkit {

/// As cheap as the int that it holds. Indices of different tags do not mix, and none converts to a number by itself.
template <class Tag>
class Index {
 public:
  constexpr Index() = default;  // absent
  constexpr explicit Index(std::integral auto number) : number_(static_cast<int>(number)) {
    OPKIT_CHECK(std::in_range<int>(number));
  }

  constexpr explicit operator bool() const { return number_ != kAbsent; }
  /// REQUIRES a present index.
  constexpr size_t value() const { return static_cast<size_t>(number_); }
  /// As files and the C ABI store it: -1 if absent.
  constexpr int number() const { return number_; }

  constexpr auto operator<=>(const Index&) const = default;
  constexpr Index& operator++() {
    ++number_;
    return *this;
  }

 private:
  static constexpr int kAbsent = -1;
  int number_ = kAbsent;
};

/// The indices from 0 to `count` - 1.
template <class Id>
class IndexRange {
 public:
  struct Iterator {
    Id id;
    Id operator*() const { return id; }
    Iterator& operator++() {
      ++id;
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };
  explicit IndexRange(size_t count) : end_(count) {}
  Iterator begin() const { return {Id(0)}; }
  Iterator end() const { return {end_}; }

 private:
  Id end_;
};

/// A std::vector whose operator[] and push_back speak of `Id`.
template <class Id, class T>
class IndexedVector : public std::vector<T> {
  using Base = std::vector<T>;

 public:
  using Base::Base;
  using Base::size;

  typename Base::reference operator[](Id id) { return Base::operator[](id.value()); }
  typename Base::const_reference operator[](Id id) const { return Base::operator[](id.value()); }
  void at(size_t) const = delete;

  template <class... Args>
  Id emplace_back(Args&&... args) {
    Base::emplace_back(std::forward<Args>(args)...);
    return Id(size() - 1);
  }
  Id push_back(const T& value) { return emplace_back(value); }
  Id push_back(T&& value) { return emplace_back(std::move(value)); }
  /// The index that the next push_back returns.
  Id nextId() const { return Id(size()); }
  /// REQUIRES an element.
  Id lastId() const { return Id(size() - 1); }
  bool contains(Id id) const { return id.number() >= 0 && id.value() < size(); }
  IndexRange<Id> ids() const { return IndexRange<Id>(size()); }
  /// REQUIRES an element of this vector, by reference.
  Id idOf(const T& element) const { return Id(&element - Base::data()); }
};

}  // namespace opkit

template <class Tag>
struct std::hash<opkit::Index<Tag>> {
  size_t operator()(opkit::Index<Tag> index) const { return std::hash<int>()(index.number()); }
};

template <class Tag>
struct fmt::formatter<opkit::Index<Tag>> : fmt::formatter<int> {
  auto format(opkit::Index<Tag> index, fmt::format_context& context) const {
    return fmt::formatter<int>::format(index.number(), context);
  }
};
