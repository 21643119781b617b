#include "harness/compare/alterations.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>

namespace opkit::harness {
namespace {

size_t flatIndex(const DimVector& at, const DimVector& strides) {
  int64_t flat = 0;
  for (size_t d = 0; d < at.size(); ++d) flat += at[d] * strides[d];
  return static_cast<size_t>(flat);
}

/// Element k becomes the old element sources[k].
void gather(OracleTensor& tensor, const std::vector<size_t>& sources) {
  visitValues(tensor, [&](auto& values) {
    const auto old = values;
    for (size_t i = 0; i < sources.size(); ++i) values[i] = old[sources[i]];
  });
}

}  // namespace

std::string paramsWithDefaults(const ParamsSchema& schema, std::span<const uint8_t> bytes) {
  static const re2::RE2 infinite(R"("\w+": *-?(inf|nan)(, *)?)"), comma(", *\\}");
  std::string text = paramsToJson(schema, bytes, true);
  re2::RE2::GlobalReplace(&text, infinite, "");
  re2::RE2::GlobalReplace(&text, comma, "}");
  return text;
}

void copyElement(const OracleTensor& tensor, size_t from, OracleTensor& copy, size_t to) {
  if (tensor.isReal())
    copy.real[to] = tensor.real[from];
  else
    copy.integer[to] = tensor.integer[from];
  if (!tensor.magnitude.empty()) copy.magnitude[to] = tensor.magnitude[from];
}

void fillWithElement(OracleTensor& tensor, size_t index) {
  visitValues(tensor, [index](auto& values) {
    const auto value = values[index];
    std::ranges::fill(values, value);
  });
}

void reindex(OracleTensor& tensor, const std::function<void(DimVector& at)>& move) {
  const DimVector strides = contiguousStrides(tensor.desc.shape);
  std::vector<size_t> sources;
  forEachIndex(tensor.desc.shape, [&](DimVector at) {
    move(at);
    sources.push_back(flatIndex(at, strides));
  });
  gather(tensor, sources);
}

void exchangeStrides(OracleTensor& tensor, size_t a, size_t b) {
  Shape swapped = tensor.desc.shape;
  std::swap(swapped[a], swapped[b]);
  DimVector strides = contiguousStrides(swapped);
  std::swap(strides[a], strides[b]);
  std::vector<size_t> sources;
  forEachIndex(tensor.desc.shape, [&](const DimVector& at) { sources.push_back(flatIndex(at, strides)); });
  gather(tensor, sources);
}

void zeroBetween(OracleTensor& tensor, size_t axis, int64_t first, int64_t last) {
  visitValues(tensor, [&](auto& values) {
    size_t i = 0;
    forEachIndex(tensor.desc.shape, [&](const DimVector& at) {
      if (at[axis] >= first && at[axis] < last) values[i] = 0;
      ++i;
    });
  });
}

std::optional<Tensor> withoutEnd(const Tensor& tensor, size_t axis, int64_t count) {
  TensorDesc desc = tensor.desc;
  desc.shape[axis] -= count;
  auto made = Tensor::onHost(desc);
  if (!made) return std::nullopt;
  OracleTensor all = OracleTensor::fromTensor(tensor), kept(desc);
  const DimVector strides = contiguousStrides(tensor.desc.shape);
  std::vector<size_t> sources;
  forEachIndex(desc.shape, [&](const DimVector& at) { sources.push_back(flatIndex(at, strides)); });
  gather(all, sources);
  visitValues(all, [&](auto& values) { values.resize(sources.size()); });
  kept.real = std::move(all.real);
  kept.integer = std::move(all.integer);
  kept.toTensor(*made);
  return *std::move(made);
}

std::optional<Tensor> withZeros(const Tensor& tensor, const std::vector<int64_t>& before,
                                const std::vector<int64_t>& after) {
  TensorDesc desc = tensor.desc;
  for (size_t d = 0; d < desc.shape.size(); ++d) desc.shape[d] += before[d] + after[d];
  auto made = Tensor::onHost(desc);
  if (!made) return std::nullopt;
  const OracleTensor all = OracleTensor::fromTensor(tensor);
  OracleTensor padded(desc);
  const DimVector strides = contiguousStrides(desc.shape);
  size_t from = 0;
  forEachIndex(tensor.desc.shape, [&](DimVector at) {
    for (size_t d = 0; d < at.size(); ++d) at[d] += before[d];
    copyElement(all, from++, padded, flatIndex(at, strides));
  });
  padded.toTensor(*made);
  return *std::move(made);
}

std::vector<int64_t> lastTiles(int64_t extent) {
  std::set<int64_t> counts;
  for (int64_t width = 1; width < extent && width <= 8192; width *= 2)
    for (const int64_t count : {width <= 64 ? width : 0, extent % width})
      if (count > 0 && count < extent) counts.insert(count);
  return {counts.begin(), counts.end()};
}

}  // namespace opkit::harness
