// Copies between host and device: every dtype, every layout, conversion, odd sizes, several formats at once.
#include "harness/backend_suite/patterns.h"
#include "harness/backend_suite/suite.h"

namespace opkit::harness::backend_suite {
namespace {

constexpr DType kEveryDType[] = {DType::Float32, DType::Float16, DType::Float64, DType::Int8,
                                 DType::UInt8,   DType::Int16,   DType::UInt16,  DType::Int32,
                                 DType::UInt32,  DType::Int64,   DType::UInt64,  DType::Bool};

Status roundTrip(const Context& context, const TensorDesc& desc, Layout layout) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  OPKIT_ASSIGN(const Tensor host, pattern(desc, 3));
  OPKIT_ASSIGN(const Tensor device, toDevice(*backend, host, layout));
  return expectHolds(*backend, device, host, fmt::format("{} round trip", opkit::nameOf(layout)));
}

Status everyShape(const Context& context, DType dtype, Layout layout) {
  for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{2, 3, 5, 7}, Shape{1, 4, 2, 2}, Shape{3, 5, 1, 1}, Shape{2, 9, 3},
                             Shape{2, 3, 2, 2, 2}, Shape{0, 3, 2, 2}})
    OPKIT_TRY(roundTrip(context, {dtype, shape}, layout));
  return Status::ok();
}

Status oddSizes(const Context& context) {
  for (int64_t count = 0; count <= 70; ++count)
    for (const DType dtype : {DType::UInt8, DType::Float16, DType::Float32})
      OPKIT_TRY(roundTrip(context, {dtype, {count}}, Layout::NCHW));
  return roundTrip(context, {DType::Float32, {}}, Layout::NCHW);
}

Status large(const Context& context) { return roundTrip(context, {DType::Float32, {3, 1024, 1024}}, Layout::NCHW); }

/// Host f32 against a device that stores f16, as in Precision::Normal.
Status converts(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  const Shape shape{3, 37};
  OPKIT_ASSIGN(const Tensor host, pattern({DType::Float32, shape}, 4));
  Tensor device{{DType::Float16, shape}};
  OPKIT_ASSIGN(device.buffer, backend->allocate(device.sizeBytes()));
  OPKIT_TRY(backend->upload(host, device));
  return expectHolds(*backend, device, host, "f32 through f16");
}

Status normalPrecision(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend({.threads = 1, .precision = Precision::Normal}));
  OPKIT_ASSIGN(const Tensor host, pattern({DType::Float32, {5, 13}}, 6));
  OPKIT_ASSIGN(const Tensor device, toDevice(*backend, host));
  OPKIT_TRY(expectHolds(*backend, device, host, "precision normal"));
  for (const DType dtype : {DType::Int32, DType::Int64, DType::UInt8, DType::Bool})
    OPKIT_EXPECT(backend->storageDType(dtype) == dtype, "storageDType({0}) must be {0}, got {1}", opkit::nameOf(dtype),
                 opkit::nameOf(backend->storageDType(dtype)));
  return Status::ok();
}

Status countedCopies(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  OPKIT_ASSIGN(const Tensor host, pattern({DType::Float32, {256}}, 1));
  const BackendCounters before = backend->counters();
  OPKIT_ASSIGN(const Tensor device, toDevice(*backend, host));
  OPKIT_TRY(backend->download(device, host));
  const uint64_t up = backend->counters().bytesUploaded - before.bytesUploaded;
  const uint64_t down = backend->counters().bytesDownloaded - before.bytesDownloaded;
  OPKIT_EXPECT(up >= 1024 && down >= 1024, "a copy of 1024 bytes each way was counted as {} and {}", up, down);
  return Status::ok();
}

}  // namespace

void addCopyTests(std::vector<Test>& tests) {
  for (const DType dtype : kEveryDType)
    tests.push_back({"copies", fmt::format("copies.{}", opkit::nameOf(dtype)), "host to device and back, bit for bit",
                     [dtype](const Context& context) { return everyShape(context, dtype, Layout::NCHW); }});
  for (const DType dtype : {DType::Float32, DType::Float16, DType::UInt8})
    tests.push_back({"copies", fmt::format("copies.NC4HW4.{}", opkit::nameOf(dtype)),
                     "the copy converts the layout both ways",
                     [dtype](const Context& context) { return everyShape(context, dtype, Layout::NC4HW4); }});
  tests.push_back({"copies", "copies.odd_sizes", "0 to 70 elements of 1, 2 and 4 bytes, and a scalar", oddSizes});
  tests.push_back({"copies", "copies.large", "12 MiB", large});
  tests.push_back({"copies", "copies.f32_through_f16", "the copy converts floats", converts});
  tests.push_back(
      {"copies", "copies.precision_normal", "floats may be kept as f16; nothing else changes type", normalPrecision});
  tests.push_back({"copies", "copies.counted", "bytes are counted each way", countedCopies});
}

}  // namespace opkit::harness::backend_suite
