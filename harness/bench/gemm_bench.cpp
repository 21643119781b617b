// Times the single-precision product: squares, and the convolutions of ResNet-50 as implicit GEMM.
//
//   build/bin/gemm_bench --benchmark_filter='square|resnet' --benchmark_counters_tabular=true
//
// Every product is checked against a plain loop at a few elements before it is timed. FLOPS is one
// multiply-add as two.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/cpu/gemm/gemm.h"
#include "engine/backend/cpu/simd_target.h"
#include "engine/tensor/tensor.h"

namespace opkit::cpu::gemm {
namespace {

Tensor floats(int64_t count) { return *Tensor::onHost({DType::Float32, {count}}); }

Tensor randomFloats(int64_t count) {
  const Tensor tensor = floats(count);
  uint32_t state = 12345;
  for (float& value : tensor.data<float>()) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
  }
  return tensor;
}

void expectNear(float got, double expected, double magnitude) {
  if (std::fabs(got - expected) <= 1e-5 * magnitude) return;
  std::fprintf(stderr, "gemm_bench: expected %g, got %g\n", expected, static_cast<double>(got));
  std::exit(1);
}

/// C = A * B, B packed once: how MatMul uses it.
void square(benchmark::State& state) {
  const int64_t n = state.range(0);
  const auto threads = static_cast<size_t>(state.range(1));
  const Tensor a = randomFloats(n * n);
  const Tensor b = randomFloats(n * n);
  const Tensor c = floats(n * n);
  const Tensor packed = floats(packedRightFloats(n, n));
  packRight({.data = b.data<float>().data(), .depthStride = n}, n, n, packed.data<float>().data());
  const Plan plan({n, n, n}, 1, true, threads);
  const Problem problem{.left = {a.data<float>().data(), n, 1},
                        .right = {.form = Right::Form::Packed, .data = packed.data<float>().data()},
                        .c = c.data<float>().data(),
                        .cRowStride = n};
  ThreadPool pool(threads);
  run(plan, {&problem, 1}, nullptr, pool);
  for (const int64_t i : {int64_t{0}, n / 2 * n + n / 3, n * n - 1}) {
    double sum = 0;
    for (int64_t p = 0; p < n; ++p)
      sum += static_cast<double>(a.data<float>()[static_cast<size_t>(i / n * n + p)]) *
             b.data<float>()[static_cast<size_t>(p * n + i % n)];
    expectNear(c.data<float>()[static_cast<size_t>(i)], sum, static_cast<double>(n));
  }
  for (auto _ : state) run(plan, {&problem, 1}, nullptr, pool);
  state.counters["FLOPS"] =
      benchmark::Counter(2.0 * static_cast<double>(n * n * n), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(square)->ArgsProduct({{64, 128, 256, 512, 768, 1024}, {1, 2}})->ArgNames({"n", "threads"})->UseRealTime();

struct ConvShape {
  const char* name;
  int64_t channels, outputs, size, kernel;  // stride 1, output as large as the input
};
constexpr ConvShape kResnet[] = {
    {"1x1 64-256 56x56", 64, 256, 56, 1},     {"3x3 64-64 56x56", 64, 64, 56, 3},
    {"1x1 512-128 28x28", 512, 128, 28, 1},   {"3x3 128-128 28x28", 128, 128, 28, 3},
    {"1x1 256-1024 14x14", 256, 1024, 14, 1}, {"3x3 256-256 14x14", 256, 256, 14, 3},
    {"1x1 512-2048 7x7", 512, 2048, 7, 1},    {"3x3 512-512 7x7", 512, 512, 7, 3},
};

/// Weights packed once, B gathered from a padded image: how Conv uses it.
void resnet(benchmark::State& state) {
  const ConvShape& shape = kResnet[state.range(0)];
  const auto threads = static_cast<size_t>(state.range(1));
  state.SetLabel(shape.name);
  const int64_t padded = shape.size + shape.kernel - 1;
  const Dims dims{shape.outputs, shape.size * shape.size, shape.channels * shape.kernel * shape.kernel};
  const Tensor image = randomFloats(shape.channels * padded * padded + kGatherSlack);
  const Tensor weights = randomFloats(dims.m * dims.k);
  const Tensor packed = floats(packedLeftFloats(dims.m, dims.k));
  const Tensor c = floats(dims.m * dims.n);
  packLeft({weights.data<float>().data(), dims.k, 1}, dims.m, dims.k, packed.data<float>().data());
  std::vector<int64_t> offsets;
  for (int64_t channel = 0; channel < shape.channels; ++channel)
    for (int64_t y = 0; y < shape.kernel; ++y)
      for (int64_t x = 0; x < shape.kernel; ++x) offsets.push_back((channel * padded + y) * padded + x);
  const Plan plan(dims, 1, false, threads);
  const Tensor workspace = floats(plan.workspaceFloats());
  const bool pointwise = shape.kernel == 1;
  const Problem problem{.left = {packed.data<float>().data(), 0, 0, true},
                        .right = {.form = Right::Form::Gathered,
                                  .data = image.data<float>().data(),
                                  .depthOffsets = offsets.data(),
                                  .runLength = pointwise ? dims.n : shape.size,
                                  .runStride = padded,
                                  .slack = true},
                        .c = c.data<float>().data(),
                        .cRowStride = dims.n};
  ThreadPool pool(threads);
  run(plan, {&problem, 1}, workspace.data<float>().data(), pool);
  for (const int64_t i : {int64_t{0}, dims.m / 2 * dims.n + dims.n / 3, dims.m * dims.n - 1}) {
    double sum = 0;
    const int64_t column = i % dims.n;
    for (int64_t p = 0; p < dims.k; ++p)
      sum += static_cast<double>(weights.data<float>()[static_cast<size_t>(i / dims.n * dims.k + p)]) *
             image.data<float>()[static_cast<size_t>(offsets[static_cast<size_t>(p)] + column / shape.size * padded +
                                                     column % shape.size)];
    expectNear(c.data<float>()[static_cast<size_t>(i)], sum, static_cast<double>(dims.k));
  }
  for (auto _ : state) run(plan, {&problem, 1}, workspace.data<float>().data(), pool);
  state.counters["FLOPS"] = benchmark::Counter(2.0 * static_cast<double>(dims.m * dims.n * dims.k),
                                               benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(resnet)
    ->ArgsProduct({benchmark::CreateDenseRange(0, std::size(kResnet) - 1, 1), {1, 2}})
    ->ArgNames({"shape", "threads"})
    ->UseRealTime();

}  // namespace
}  // namespace opkit::cpu::gemm

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("simd", opkit::cpu::simdTargetName());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
