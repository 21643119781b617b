#include <gtest/gtest.h>

#include "engine/backend/cpu/gemm/byte_gemm_kernel.h"
#include "engine/tensor/tensor.h"
#include "ops/integer_conv/integer_conv_direct_vectors.h"

namespace opkit::ops::integer_conv {
namespace {

using cpu::bytes::Instructions;

/// Sums of the direct kernel and of plain loops, for a signal of `inputs` channels and `taps` taps.
struct Signal {
  Signal(int64_t outputs, int64_t inputs, int64_t taps, int64_t positions)
      : words(ceilDiv(inputs, kWordChannels)),
        length(positions + taps - 1),
        image(static_cast<size_t>(words * length)) {
    std::vector<uint8_t> x(static_cast<size_t>(inputs * length)), w(static_cast<size_t>(outputs * inputs * taps));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i % 7 == 0 ? 255 : i * 37);
    for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<uint8_t>(i % 5 == 0 ? 128 : i * 59);  // -128 is the least
    for (int64_t c = 0; c < words; ++c) {
      const uint8_t* rows[kWordChannels];
      for (int64_t i = 0; i < kWordChannels; ++i)
        rows[i] = x.data() + std::min(c * kWordChannels + i, inputs - 1) * length;
      makeWords(rows, 0, image.data() + c * length, length);
    }
    for (int64_t c = 0; c < words; ++c)
      for (int64_t tap = 0; tap < taps; ++tap) offsets.push_back(c * length + tap);
    const int64_t depth = words * taps;
    const auto aligned = [](int64_t bytes) { return *Tensor::onHost({DType::UInt8, {bytes}}); };
    const Tensor packed = aligned(directWeightBytes(outputs, depth)), scratch = aligned(directScratchBytes(positions));
    packDirectWeights(w.data(), true, outputs, inputs, taps, packed.data<uint8_t>().data());
    sums.assign(static_cast<size_t>(outputs * positions), -1);
    convolveBytes({.image = image.data(),
                   .offsets = offsets.data(),
                   .depth = depth,
                   .runLength = positions,
                   .runStride = 0,
                   .weights = packed.data<uint8_t>().data(),
                   .zeroPoint = 3,
                   .bias = nullptr,
                   .outputs = outputs,
                   .planeStride = positions,
                   .sums = sums.data(),
                   .y = nullptr,
                   .requantization = {},
                   .firstPosition = 0,
                   .endPosition = positions,
                   .firstPanel = 0,
                   .endPanel = ceilDiv(outputs, byteTile().lanes * byteTile().vecs),
                   .scratch = scratch.data<uint8_t>().data()});
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t p = 0; p < positions; ++p) {
        int32_t sum = 0;
        for (int64_t c = 0; c < inputs; ++c)
          for (int64_t tap = 0; tap < taps; ++tap)
            sum += static_cast<int8_t>(w[static_cast<size_t>((o * inputs + c) * taps + tap)]) *
                   (x[static_cast<size_t>(c * length + p + tap)] - 3);
        expected.push_back(sum);
      }
  }

  int64_t words, length;
  std::vector<int32_t> image;
  std::vector<int64_t> offsets;
  std::vector<int32_t> sums, expected;
};

class DirectBytes : public ::testing::TestWithParam<Instructions> {
 protected:
  void SetUp() override { cpu::bytes::setBest(GetParam()); }
  void TearDown() override { cpu::bytes::setBest(Instructions::Tiles); }
};

/// The harness reaches the best instructions of a set alone.
TEST_P(DirectBytes, SumsAreThoseOfPlainLoops) {
  for (const int64_t outputs : {1, 16, 50, 97})
    for (const int64_t inputs : {1, 4, 9, 200})
      for (const int64_t positions : {1, 8, 39}) {
        const Signal signal(outputs, inputs, 3, positions);
        ASSERT_EQ(signal.sums, signal.expected) << outputs << " outputs, " << inputs << " inputs, " << positions;
      }
}

INSTANTIATE_TEST_SUITE_P(Best, DirectBytes, ::testing::Values(Instructions::Widened, Instructions::Vnni));

}  // namespace
}  // namespace opkit::ops::integer_conv
