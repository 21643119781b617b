#include "fuzz/mutate_tree.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "fuzz/mutate_text.h"

namespace opkit::fuzz {
namespace {

using Json = nlohmann::json;

constexpr size_t kDepths[] = {2, 40, 70, 2000};  // readers take 64 levels

/// A member of an object, or an element of an array.
struct Place {
  Json* parent = nullptr;
  std::string key;
  size_t index = 0;

  Json& value() const { return parent->is_object() ? (*parent)[key] : (*parent)[index]; }
  std::string name() const { return parent->is_object() ? fmt::format("\"{}\"", key) : fmt::format("[{}]", index); }
};

void addPlaces(Json& tree, std::vector<Place>& places) {
  if (tree.is_object())
    for (const auto& item : tree.items()) places.push_back({&tree, item.key()});
  else if (tree.is_array())
    for (size_t i = 0; i < tree.size(); ++i) places.push_back({&tree, "", i});
  for (Json& child : tree)
    if (child.is_structured()) addPlaces(child, places);
}

std::string shown(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, kLongestQuote);
}

Json nested(Json value, size_t depth) {
  for (size_t i = 0; i < depth; ++i) {
    Json outer = Json::array();
    outer.push_back(std::move(value));
    value = std::move(outer);
  }
  return value;
}

Json hostileValue(std::mt19937_64& random) {
  switch (random() % 12) {
    case 0: return nullptr;
    case 1: return random() % 2 == 0;
    case 2: return Json::array();
    case 3: return Json::object();
    case 4: return Json{{"x", 1}};
    case 5: return std::numeric_limits<int64_t>::min();
    case 6: return std::numeric_limits<uint64_t>::max();
    case 7: return 1e308;
    case 8: return -1;
    case 9: return int64_t{1} << (random() % 63);
    default: return hostileWord(random);
  }
}

std::string rename(const Place& place, const std::vector<Place>& places, std::mt19937_64& random) {
  const Place& other = places[below(places.size(), random)];
  const std::string key = other.key.empty() ? hostileWord(random) : other.key;
  Json value = place.value();
  place.parent->erase(place.key);
  (*place.parent)[key] = std::move(value);
  return fmt::format("key {} becomes {}", place.name(), shown(key));
}

std::string erase(const Place& place) {
  const std::string what = fmt::format("drop {}", place.name());
  if (place.parent->is_object())
    place.parent->erase(place.key);
  else
    place.parent->erase(place.index);
  return what;
}

std::string repeat(const Place& place, std::mt19937_64& random) {
  const size_t times = random() % 16 == 0 ? 500 : 1;
  const Json value = place.value();
  for (size_t i = 0; i < times && place.parent->is_array(); ++i) place.parent->push_back(value);
  return fmt::format("repeat {} {} times", place.name(), times);
}

}  // namespace

std::string mutateTree(Json& tree, std::mt19937_64& random) {
  std::vector<Place> places;
  addPlaces(tree, places);
  if (places.empty()) {
    tree = hostileValue(random);
    return fmt::format("all becomes {}", shown(tree));
  }
  const Place place = places[below(places.size(), random)];
  switch (random() % 8) {
    case 0: return erase(place);
    case 1: return place.parent->is_object() ? rename(place, places, random) : repeat(place, random);
    case 2: {
      const Json other = places[below(places.size(), random)].value();
      const std::string what = fmt::format("{} becomes {}", place.name(), shown(other));
      place.value() = other;
      return what;
    }
    case 3: {
      const size_t depth = kDepths[below(std::size(kDepths), random)];
      Json value = place.value();
      place.value() = nested(std::move(value), depth);
      return fmt::format("{} is nested {} deep", place.name(), depth);
    }
    default: {
      const Json value = hostileValue(random);
      const std::string what = fmt::format("{}, {}, becomes {}", place.name(), shown(place.value()), shown(value));
      place.value() = value;
      return what;
    }
  }
}

}  // namespace opkit::fuzz
