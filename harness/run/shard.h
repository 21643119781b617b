// Shard: the I-th of N parts of a list, for runs over several processes or machines.
#pragma once

#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::harness {

struct Shard {
  size_t index = 1, count = 1;

  /// "2/5": every fifth, starting with the second. The empty text is the whole. InvalidArgument for other texts.
  static Result<Shard> parse(const std::string& text);

  bool isWhole() const { return count == 1; }
  /// "part 2 of 5"; empty for the whole.
  std::string toString() const;

  template <class T>
  void keepMine(std::vector<T>& list) const {
    std::vector<T> mine;
    for (size_t i = index - 1; i < list.size(); i += count) mine.push_back(std::move(list[i]));
    list = std::move(mine);
  }
};

}  // namespace opkit::harness
