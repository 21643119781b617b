#include "engine/backend/host/host_raster.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/backend/backend_registry.h"
#include "engine/backend/op_runner.h"
#include "engine/op/op_registry.h"

namespace opkit {
namespace {

struct Bench {
  OpRegistry registry;
  size_t threads = 1;
  std::unique_ptr<Backend> backend = std::move(*(*createRuntime("cpu"))->createBackend(registry, {.threads = threads}));
};

template <class T>
Tensor ramp(DType dtype, const Shape& shape) {
  std::vector<T> values(static_cast<size_t>(elementCount(shape)));
  std::iota(values.begin(), values.end(), T{1});
  return *Tensor::fromValues({dtype, shape}, values);
}

template <class T>
std::vector<T> rasterize(Backend& backend, const RegionList& list, const std::vector<Tensor>& sources,
                         const TensorDesc& desc) {
  const Tensor output = *Tensor::onHost(desc);
  std::ranges::fill(output.bytes(), std::byte{0xFF});
  std::vector<const Tensor*> inputs;
  for (const Tensor& source : sources) inputs.push_back(&source);
  const std::vector<const Tensor*> outputs = {&output};
  std::vector<const TensorDesc*> descs;
  for (const Tensor* input : inputs) descs.push_back(&input->desc);
  const auto raster = std::move(*makeRaster(backend, list, descs, output.desc));
  EXPECT_TRUE(raster->onResize(inputs, outputs).isOk());
  EXPECT_TRUE(raster->onExecute(inputs, outputs).isOk());
  const auto data = output.data<T>();
  return {data.begin(), data.end()};
}

/// The definition in region.h, element by element.
template <class T>
void expectRegion(const Region& region, const std::vector<T>& source, const std::vector<T>& target) {
  forEachIndex(region.size, [&](const DimVector& index) {
    int64_t from = region.sourceOffset;
    int64_t to = region.offset;
    for (size_t d = 0; d < index.size(); ++d) {
      from += index[d] * region.sourceStrides[d];
      to += index[d] * region.strides[d];
    }
    EXPECT_EQ(target[static_cast<size_t>(to)], source[static_cast<size_t>(from)]) << "at " << toString(index);
  });
}

template <class T>
void checkTranspose(DType dtype) {
  Bench bench;
  const Tensor source = ramp<T>(dtype, {2, 3, 4, 5});
  const Region region{0, 0, 0, {5, 3, 2, 4}, {1, 20, 60, 5}, {24, 8, 4, 1}};
  const auto values = source.data<T>();
  expectRegion<T>(region, {values.begin(), values.end()},
                  rasterize<T>(*bench.backend, {{region}}, {source}, {dtype, {5, 3, 2, 4}}));
}

TEST(HostRaster, TransposesEveryElementSize) {
  checkTranspose<uint8_t>(DType::UInt8);
  checkTranspose<uint16_t>(DType::UInt16);
  checkTranspose<float>(DType::Float32);
  checkTranspose<int64_t>(DType::Int64);
}

TEST(HostRaster, LargeRegionsAreSplitOverThreads) {
  Bench bench{.threads = 3};
  const Tensor source = ramp<float>(DType::Float32, {3, 130, 257});
  const Region turned{0, 0, 0, {3, 257, 130}, {33410, 1, 257}, {33410, 130, 1}};
  const Region mirrored{0, 100229, 0, {100230}, {-1}, {1}};
  const auto values = source.data<float>();
  for (const Region& region : {turned, mirrored})
    expectRegion<float>(region, {values.begin(), values.end()},
                        rasterize<float>(*bench.backend, {{region}}, {source}, {DType::Float32, {100230}}));
}

TEST(HostRaster, SplitsCoverARegionOnce) {
  const Region region{0, 5, 7, {3, 10}, {100, -2}, {10, 1}};
  for (const int64_t count : {0, 1, 3, 4, 10, 99}) {
    std::vector<int> seen(40, 0);
    for (const Region& part : splitRegion(region, count))
      forEachIndex(part.size, [&](const DimVector& index) {
        const int64_t to = part.offset + index[0] * part.strides[0] + index[1] * part.strides[1];
        const int64_t from = part.sourceOffset + index[0] * part.sourceStrides[0] + index[1] * part.sourceStrides[1];
        EXPECT_EQ(from - 5, (to - 7) / 10 * 100 - (to - 7) % 10 * 2);
        ++seen[static_cast<size_t>(to)];
      });
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 30) << count;
  }
}

TEST(HostRaster, RepeatsAndMirrors) {
  Bench bench;
  const Tensor source = ramp<float>(DType::Float32, {3});
  const Region repeat{0, 0, 0, {2, 3, 2}, {0, 1, 0}, {6, 2, 1}};
  EXPECT_EQ(rasterize<float>(*bench.backend, {{repeat}}, {source}, {DType::Float32, {12}}),
            (std::vector<float>{1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}));
  const Region mirror{0, 2, 0, {3}, {-1}, {1}};
  EXPECT_EQ(rasterize<float>(*bench.backend, {{mirror}}, {source}, {DType::Float32, {3}}),
            (std::vector<float>{3, 2, 1}));
}

/// Rows of one length, copied or each filled with one element.
template <class T>
void checkRows(DType dtype, int64_t length) {
  Bench bench;
  const Tensor source = ramp<T>(dtype, {3, length + 1});
  const auto values = source.data<T>();
  for (const int64_t stride : {1, 0}) {
    const Region rows{0, 1, 0, {3, length}, {length + stride, stride}, {length, 1}};
    expectRegion<T>(rows, {values.begin(), values.end()},
                    rasterize<T>(*bench.backend, {{rows}}, {source}, {dtype, {3, length}}));
  }
}

TEST(HostRaster, CopiesAndRepeatsRowsOfEveryLength) {
  for (int64_t length = 1; length < 80; ++length) {
    checkRows<uint8_t>(DType::UInt8, length);
    checkRows<uint16_t>(DType::UInt16, length);
    checkRows<int64_t>(DType::Int64, length);
  }
  checkRows<uint8_t>(DType::UInt8, 513);
}

TEST(HostRaster, RepeatsBlocks) {
  Bench bench;
  const Tensor source = ramp<float>(DType::Float32, {4, 7});
  const auto values = source.data<float>();
  const auto check = [&](const Shape& size, const DimVector& from) {
    const Region region{0, 1, 0, size, from, contiguousStrides(size)};
    expectRegion<float>(region, {values.begin(), values.end()},
                        rasterize<float>(*bench.backend, {{region}}, {source}, {DType::Float32, size}));
  };
  check({5000, 3}, {0, 1});
  check({3, 5000}, {1, 0});
  check({90, 3, 7}, {0, 1, 0});
  check({4, 33, 5, 3}, {7, 0, 0, 2});
  check({2, 2, 1, 3}, {0, 7, 0, 1});
  check({2, 3000, 7}, {7, 0, 0});
}

TEST(HostRaster, FillsWhatNoRegionCovers) {
  Bench bench;
  const Tensor source = ramp<int32_t>(DType::Int32, {2, 2});
  const Tensor value = *Tensor::fromValues<int32_t>({DType::Int32, {}}, {-7});
  const Region inner{0, 0, 5, {2, 2}, {2, 1}, {4, 1}};
  const TensorDesc padded{DType::Int32, {4, 4}};
  EXPECT_EQ(rasterize<int32_t>(*bench.backend, {{inner}, RegionList::Fill::Input, 1}, {source, value}, padded),
            (std::vector<int32_t>{-7, -7, -7, -7, -7, 1, 2, -7, -7, 3, 4, -7, -7, -7, -7, -7}));
  EXPECT_EQ(rasterize<int32_t>(*bench.backend, {{inner}, RegionList::Fill::Zero}, {source, value}, padded),
            (std::vector<int32_t>{0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0}));
}

TEST(HostRaster, FillsTheGapsAroundLongRows) {
  Bench bench;
  const Tensor source = ramp<float>(DType::Float32, {2, 3, 20});
  const Region inner{0, 0, 2 * 23 + 1, {2, 3, 20}, {60, 20, 1}, {6 * 23, 23, 1}};
  std::vector<float> expected(2 * 6 * 23 + 5, 0);
  for (int64_t i = 0; i < 120; ++i)
    expected[static_cast<size_t>(47 + i / 60 * 138 + i / 20 % 3 * 23 + i % 20)] = static_cast<float>(i + 1);
  const TensorDesc padded{DType::Float32, {2 * 6 * 23 + 5}};
  EXPECT_EQ(rasterize<float>(*bench.backend, {{inner}, RegionList::Fill::Zero}, {source}, padded), expected);
}

TEST(HostRaster, ConcatenatesAndSkipsEmptyBoxes) {
  Bench bench;
  const Tensor a = ramp<float>(DType::Float32, {2, 1});
  const Tensor b = ramp<float>(DType::Float32, {2, 2});
  const Region fromA{0, 0, 0, {2, 1}, {1, 1}, {3, 1}};
  const Region fromB{1, 0, 1, {2, 2}, {2, 1}, {3, 1}};
  const Region nothing{0, 100, 100, {2, 0}, {1, 1}, {3, 1}};
  EXPECT_EQ(rasterize<float>(*bench.backend, {{fromA, nothing, fromB}}, {a, b}, {DType::Float32, {2, 3}}),
            (std::vector<float>{1, 1, 2, 2, 3, 4}));
  EXPECT_EQ(rasterize<float>(*bench.backend, {{nothing}}, {a, b}, {DType::Float32, {0, 3}}), std::vector<float>{});
}

TEST(HostRaster, CopiesAScalar) {
  Bench bench;
  const Tensor source = ramp<double>(DType::Float64, {});
  EXPECT_EQ(rasterize<double>(*bench.backend, {{Region{0, 0, 0, {}, {}, {}}}}, {source}, {DType::Float64, {}}),
            std::vector<double>{1});
}

TEST(HostRaster, ReportsASourceThatIsNotThere) {
  Bench bench;
  const Tensor output = *Tensor::onHost({DType::Float32, {1}});
  const std::vector<const Tensor*> outputs = {&output};
  const auto raster = std::move(*makeRaster(*bench.backend, {{contiguousRegion(3, 0, 0, 1)}}, {}, output.desc));
  EXPECT_EQ(raster->onResize(outputs, outputs).code(), StatusCode::Internal);
}

TEST(PlanRegion, MergesAcrossTheDestinationOrder) {
  // A transpose written with the destination's inner dimension first is one contiguous copy.
  const Region plan = planRegion({0, 0, 0, {4, 3}, {1, 4}, {1, 4}});
  EXPECT_EQ(plan.size, Shape{12});
  EXPECT_EQ(plan.strides, std::vector<int64_t>{1});
}

}  // namespace
}  // namespace opkit
