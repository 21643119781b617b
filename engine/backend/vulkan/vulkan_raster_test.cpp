#include <cstring>
#include <numeric>

#include "engine/backend/vulkan/testing/vulkan_fixture.h"

namespace opkit::vulkan {
namespace {

/// The definition of a region, one element at a time.
template <class T>
void copyPlainly(const Region& region, const std::vector<T>& source, std::vector<T>& target) {
  forEachIndex(region.size, [&](const DimVector& index) {
    int64_t from = region.sourceOffset;
    int64_t to = region.offset;
    for (size_t d = 0; d < index.size(); ++d) {
      from += index[d] * region.sourceStrides[d];
      to += index[d] * region.strides[d];
    }
    target[static_cast<size_t>(to)] = source[static_cast<size_t>(from)];
  });
}

/// The box [begin, begin + size) of a destination of `shape`, read from a source in some order of the axes, with
/// repeats and mirrors; `sourceCount` becomes the elements that the source needs.
Region randomRegion(const Shape& shape, int64_t begin, int64_t size, std::mt19937& random, int64_t& sourceCount) {
  Region region;
  region.size = shape;
  region.size[0] = size;
  region.strides = contiguousStrides(shape);
  region.offset = begin * region.strides[0];
  region.sourceStrides.resize(shape.size());
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (random() % 2) std::shuffle(order.begin(), order.end(), random);
  int64_t stride = 1 + static_cast<int64_t>(random() % 3 == 0);
  region.sourceOffset = static_cast<int64_t>(random() % 4) * 2;
  int64_t reach = 0;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = order[i];
    const auto kind = random() % 8;
    region.sourceStrides[d] = kind == 0 ? 0 : kind == 1 ? -stride : stride;
    if (kind == 1) region.sourceOffset += stride * (region.size[d] - 1);
    if (kind > 1) reach += stride * (region.size[d] - 1);
    if (kind > 0) stride *= region.size[d];
  }
  sourceCount = std::max(sourceCount, region.sourceOffset + reach + 1);
  return region;
}

template <class T>
std::vector<T> randomValues(int64_t count, std::mt19937& random) {
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = static_cast<T>(random());
  return values;
}

class VulkanRasterTest : public VulkanTest {
 protected:
  /// The output may be larger than `shape`; it starts as all ones.
  template <class T>
  std::vector<T> raster(Backend& backend, DType dtype, const RegionList& list,
                        const std::vector<std::vector<T>>& sources, const Shape& shape) {
    std::vector<Tensor> inputs;
    for (const auto& source : sources)
      inputs.push_back(upload(backend, {dtype, {static_cast<int64_t>(source.size())}}, source));
    std::vector<const Tensor*> pointers;
    for (const Tensor& input : inputs) pointers.push_back(&input);
    const Tensor output = upload(backend, {dtype, shape}, std::vector<T>(elementCount(shape), T(-1)));
    std::vector<const TensorDesc*> descs;
    for (const Tensor& input : inputs) descs.push_back(&input.desc);
    const auto execution = *makeRaster(backend, list, descs, output.desc);
    EXPECT_OK(resizeAndRun(backend, {{execution.get(), pointers, {&output}}}));
    return download<T>(backend, output, dtype);
  }

  /// Random destinations cut into boxes along the outermost axis, each read from a different source.
  template <class T>
  void expectRandomRegions(DType dtype, unsigned seed) {
    const auto backend = makeBackend();
    std::mt19937 random(seed);
    for (int round = 0; round < 30; ++round) {
      Shape shape(1 + random() % 7);
      for (int64_t& extent : shape) extent = 1 + static_cast<int64_t>(random() % (shape.size() > 4 ? 4 : 9));
      RegionList list;
      std::vector<std::vector<T>> sources;
      for (int64_t begin = 0; begin < shape[0];) {
        const int64_t size = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(shape[0] - begin));
        int64_t count = 1;
        list.regions.push_back(randomRegion(shape, begin, size, random, count));
        list.regions.back().source = static_cast<int>(sources.size());
        sources.push_back(randomValues<T>(count, random));
        begin += size;
      }
      std::vector<T> expected(static_cast<size_t>(elementCount(shape)), T(-1));
      for (size_t i = 0; i < sources.size(); ++i) copyPlainly(list.regions[i], sources[i], expected);
      EXPECT_EQ(raster(*backend, dtype, list, sources, shape), expected) << toString(shape) << " round " << round;
    }
  }
};

TEST_F(VulkanRasterTest, RandomRegionsOfBytes) { expectRandomRegions<uint8_t>(DType::Bool, 1); }
TEST_F(VulkanRasterTest, RandomRegionsOfTwoBytes) { expectRandomRegions<int16_t>(DType::Int16, 2); }
TEST_F(VulkanRasterTest, RandomRegionsOfFourBytes) { expectRandomRegions<int32_t>(DType::Int32, 3); }
TEST_F(VulkanRasterTest, RandomRegionsOfEightBytes) { expectRandomRegions<int64_t>(DType::Int64, 4); }

/// The kernels of a GPU, tiles among them.
class TiledRasterTest : public VulkanRasterTest {
 protected:
  void SetUp() override {
    VulkanRasterTest::SetUp();
    runtime_ = *createRuntime({.validation = OPKIT_VALIDATION_TESTS ? Validation::Core : Validation::Off,
                               .cacheDir = "off",
                               .deviceClass = "discrete"});
  }

  /// All permutations of a tensor, its axes mirrored or cut at random, against the definition.
  template <class T>
  void expectPermuted(DType dtype, const Shape& shape, unsigned seed) {
    const auto backend = makeBackend();
    std::mt19937 random(seed);
    const DimVector strides = contiguousStrides(shape);
    std::vector<size_t> perm(shape.size());
    std::iota(perm.begin(), perm.end(), size_t{0});
    const std::vector<T> source = randomValues<T>(elementCount(shape), random);
    do {
      Region region;
      for (const size_t axis : perm) {
        const int64_t cut = random() % 3 == 0 ? shape[axis] / 4 : 0;
        const bool mirrored = random() % 4 == 0;
        region.size.push_back(shape[axis] - cut);
        region.sourceOffset += (mirrored ? shape[axis] - 1 : cut) * strides[axis];
        region.sourceStrides.push_back(mirrored ? -strides[axis] : strides[axis]);
      }
      region.strides = contiguousStrides(region.size);
      std::vector<T> expected(static_cast<size_t>(elementCount(region.size)), T(0));
      copyPlainly(region, source, expected);
      RegionList list;
      list.regions = {region};
      EXPECT_EQ(raster<T>(*backend, dtype, list, {source}, region.size), expected) << toString(region.size);
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
};

TEST_F(TiledRasterTest, RandomRegions) {
  expectRandomRegions<uint8_t>(DType::Bool, 11);
  expectRandomRegions<int16_t>(DType::Int16, 12);
  expectRandomRegions<int32_t>(DType::Int32, 13);
  expectRandomRegions<int64_t>(DType::Int64, 14);
}
TEST_F(TiledRasterTest, PermutationsOfEveryElementSize) {
  expectPermuted<uint8_t>(DType::UInt8, {33, 65, 40}, 21);
  expectPermuted<uint16_t>(DType::UInt16, {33, 65, 40}, 22);
  expectPermuted<int32_t>(DType::Int32, {33, 65, 40}, 23);
  expectPermuted<int64_t>(DType::Int64, {33, 65, 40}, 24);
}
TEST_F(TiledRasterTest, WordsOfUpToSixteenBytes) {
  expectPermuted<int32_t>(DType::Int32, {20, 37, 4}, 31);
  expectPermuted<int64_t>(DType::Int64, {20, 37, 2}, 32);
  expectPermuted<uint8_t>(DType::UInt8, {20, 37, 2}, 33);
}
TEST_F(TiledRasterTest, ShortAxes) {
  expectPermuted<int32_t>(DType::Int32, {3, 150, 5, 7}, 41);
  expectPermuted<uint8_t>(DType::UInt8, {2, 3, 4, 5, 6}, 42);
}

TEST_F(TiledRasterTest, TransposesBesideCopies) {
  const auto backend = makeBackend();
  std::mt19937 random(7);
  std::vector<std::vector<float>> sources;
  std::vector<float> expected(3 * 40 * 50, -1.0f);
  RegionList list;
  for (int i = 0; i < 3; ++i) {
    sources.push_back(randomValues<float>(40 * 50, random));
    list.regions.push_back(i == 1 ? Region{i, 0, 50, {40, 50}, {50, 1}, {150, 1}}
                                  : Region{i, 0, i * 50, {40, 50}, {1, 40}, {150, 1}});
    copyPlainly(list.regions.back(), sources.back(), expected);
  }
  EXPECT_EQ(raster<float>(*backend, DType::Float32, list, sources, {40, 150}), expected);
}

class SmallBuffersTest : public VulkanRasterTest {
 protected:
  void SetUp() override {
    VulkanRasterTest::SetUp();
    runtime_ = *createRuntime({.validation = OPKIT_VALIDATION_TESTS ? Validation::Core : Validation::Off,
                               .cacheDir = "off",
                               .mask = "buffer=2k"});
  }

  /// One region against its definition, with guards around neither.
  template <class T>
  void expectMoved(DType dtype, const Region& region, int64_t sourceCount, const Shape& shape) {
    const auto backend = makeBackend();
    std::mt19937 random(3);
    const std::vector<T> source = randomValues<T>(sourceCount, random);
    std::vector<T> expected(static_cast<size_t>(elementCount(shape)), T(0));
    copyPlainly(region, source, expected);
    RegionList list;
    list.fill = RegionList::Fill::Zero;
    list.regions = {region};
    EXPECT_EQ(raster<T>(*backend, dtype, list, {source}, shape), expected) << toString(shape);
  }
};

TEST_F(SmallBuffersTest, RegionsAreMovedInPiecesThatTheDeviceBinds) {
  expectMoved<int32_t>(DType::Int32, {0, 0, 0, {70, 41}, {1, 70}, {41, 1}}, 70 * 41, {70, 41});      // transpose
  expectMoved<uint8_t>(DType::UInt8, {0, 0, 0, {99, 101}, {1, 99}, {101, 1}}, 99 * 101, {99, 101});  // of bytes
  expectMoved<int64_t>(DType::Int64, {0, 2999, 0, {3000}, {-1}, {1}}, 3000, {3000});                 // mirror
  expectMoved<int16_t>(DType::Int16, {0, 7, 3, {2000}, {0}, {2}}, 8, {4002});                        // one element
  expectMoved<float>(DType::Float32, {0, 0, 0, {3, 5, 7, 11}, {1, 3, 165, 15}, {385, 77, 11, 1}}, 1155, {1155});
  expectMoved<int32_t>(DType::Int32, {0, 1, 5, {6, 200}, {200, 1}, {333, 1}}, 1201, {2001});  // rows
}

TEST_F(SmallBuffersTest, ManyRegionsOfManySources) {
  const auto backend = makeBackend();
  std::mt19937 random(5);
  RegionList list;
  std::vector<std::vector<float>> sources;
  std::vector<float> expected(3000, 0.0f);
  list.fill = RegionList::Fill::Zero;
  for (int64_t i = 0; i < 3; ++i) {
    sources.push_back(randomValues<float>(i == 1 ? 9000 : 50, random));
    list.regions.push_back({static_cast<int>(i), i, i, {i == 1 ? 900 : 10}, {i == 1 ? 7 : 3}, {3}});
    copyPlainly(list.regions.back(), sources.back(), expected);
  }
  EXPECT_EQ(raster<float>(*backend, DType::Float32, list, sources, {3000}), expected);
}

TEST_F(SmallBuffersTest, FillsAndCopiesHaveNoLimit) {
  const auto backend = makeBackend();
  RegionList list;
  list.fill = RegionList::Fill::Zero;
  for (const int64_t count : {1, 2, 3, 5, 255, 256, 257, 5001, 5002, 5003})
    EXPECT_EQ(raster<uint8_t>(*backend, DType::UInt8, list, {{1}}, {count}),
              std::vector<uint8_t>(static_cast<size_t>(count), 0));
  expectMoved<int64_t>(DType::Int64, contiguousRegion(0, 1000, 500, 4000), 6000, {5000});
  list.fill = RegionList::Fill::Input;
  list.fillInput = 0;
  EXPECT_EQ(raster<uint16_t>(*backend, DType::UInt16, list, {{42}}, {5001}), std::vector<uint16_t>(5001, 42));
}

TEST_F(VulkanRasterTest, WhatTakesTooManyPiecesIsRefusedWhenPlanned) {
  runtime_ = *createRuntime({.cacheDir = "off", .mask = "buffer=256"});
  const auto backend = makeBackend();
  const Tensor x{{DType::Int32, {9000000}}, nullptr}, y{{DType::Int32, {9000000}}, nullptr};
  const Tensor *in = &x, *out = &y;
  const auto raster = *makeRaster(*backend, {{{0, 0, 0, {3000, 3000}, {1, 3000}, {3000, 1}}}}, {}, y.desc);
  EXPECT_TRUE(raster->scratchBytes({&in, 1}, {&out, 1}).error().isByDevice());
}

TEST_F(VulkanRasterTest, ZeroFillsWhatNoRegionCovers) {
  const auto backend = makeBackend();
  RegionList list;
  list.fill = RegionList::Fill::Zero;
  list.regions = {{0, 0, 1, {2, 2}, {2, 1}, {4, 1}}};
  const std::vector<uint8_t> expected{0, 1, 2, 0, 0, 3, 4, 0, 0};
  EXPECT_EQ(raster<uint8_t>(*backend, DType::UInt8, list, {{1, 2, 3, 4}}, {9}), expected);
}

TEST_F(VulkanRasterTest, InputFillsWhatNoRegionCovers) {
  const auto backend = makeBackend();
  RegionList list;
  list.fill = RegionList::Fill::Input;
  list.fillInput = 1;
  list.regions = {{0, 0, 3, {2}, {1}, {1}}};
  const std::vector<int64_t> expected{42, 42, 42, 7, 8, 42};
  EXPECT_EQ(raster<int64_t>(*backend, DType::Int64, list, {{7, 8}, {42}}, {6}), expected);
}

TEST_F(VulkanRasterTest, EmptyRegionsAndEmptyOutputsDoNothing) {
  const auto backend = makeBackend();
  RegionList list;
  list.regions = {{0, 0, 0, {0, 5}, {5, 1}, {5, 1}}};
  EXPECT_EQ(raster<float>(*backend, DType::Float32, list, {{1}}, {0, 5}), std::vector<float>{});
  list.fill = RegionList::Fill::Zero;
  EXPECT_EQ(raster<float>(*backend, DType::Float32, list, {{1}}, {3}), (std::vector<float>{0, 0, 0}));
}

TEST_F(VulkanRasterTest, BadSourcesAreErrors) {
  const auto backend = makeBackend();
  const Tensor x = makeTensor(*backend, {DType::Int64, {6}});
  const Tensor y = makeTensor(*backend, {DType::Int32, {6}});
  const auto messageOf = [&](const Region& region) {
    const auto execution = *makeRaster(*backend, {{region}}, {}, y.desc);
    return resizeAndRun(*backend, {{execution.get(), {&x}, {&y}}}).message();
  };
  EXPECT_EQ(messageOf(contiguousRegion(0, 0, 0, 6)), "raster: source 0 must be i32, found i64");
  EXPECT_EQ(messageOf(contiguousRegion(1, 0, 0, 6)), "raster: a region reads source 1, there are 1");
}

}  // namespace
}  // namespace opkit::vulkan
