// Device memory: sizes, alignment, independence, refusal.
#include <numeric>

#include "harness/backend_suite/patterns.h"
#include "harness/backend_suite/suite.h"

namespace opkit::harness::backend_suite {
namespace {

Status sizes(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  for (const size_t bytes : {1, 3, 4, 63, 64, 65, 4095, 4096, 1 << 20}) {
    OPKIT_ASSIGN(const auto buffer, backend->allocate(bytes));
    OPKIT_EXPECT(buffer && buffer->sizeBytes() >= bytes, "allocate({}) gave a buffer of {} bytes", bytes,
                 buffer ? buffer->sizeBytes() : 0);
  }
  return Status::ok();
}

Status alignment(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  const size_t alignment = backend->alignment();
  OPKIT_EXPECT(alignment > 0 && (alignment & (alignment - 1)) == 0 && alignment <= 65536,
               "alignment() must be a power of two up to 65536, got {}", alignment);
  // Two tensors at neighbouring multiples do not affect each other.
  OPKIT_ASSIGN(const auto buffer, backend->allocate(alignment + 64));
  const TensorDesc desc{DType::UInt8, {static_cast<int64_t>(std::min<size_t>(alignment, 64))}};
  const Tensor first{desc, buffer, 0}, second{desc, buffer, alignment};
  OPKIT_ASSIGN(const Tensor one, pattern(desc, 1));
  OPKIT_ASSIGN(const Tensor two, pattern(desc, 2));
  OPKIT_TRY(backend->upload(one, first));
  OPKIT_TRY(backend->upload(two, second));
  OPKIT_TRY(expectHolds(*backend, first, one, "the tensor below"));
  return expectHolds(*backend, second, two, "the tensor above");
}

Status zeroBytes(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  OPKIT_ASSIGN(const auto buffer, backend->allocate(0));
  OPKIT_EXPECT(buffer != nullptr, "allocate(0) gave no buffer");
  const TensorDesc desc{DType::Float32, {3, 0, 2}};
  OPKIT_ASSIGN(const Tensor host, Tensor::onHost(desc));
  OPKIT_TRY(backend->upload(host, {desc, buffer}));
  return backend->download({desc, buffer}, host);
}

Status manyAtOnce(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  const TensorDesc desc{DType::Int32, {37}};
  std::vector<Tensor> tensors;
  for (int i = 0; i < 100; ++i) {
    OPKIT_ASSIGN(auto buffer, backend->allocate(desc.sizeBytes()));
    tensors.push_back({desc, std::move(buffer)});
    OPKIT_ASSIGN(const Tensor values, pattern(desc, i));
    OPKIT_TRY(backend->upload(values, tensors.back()));
  }
  for (int i = 0; i < 100; ++i) {
    OPKIT_ASSIGN(const Tensor values, pattern(desc, i));
    OPKIT_TRY(expectHolds(*backend, tensors[static_cast<size_t>(i)], values, fmt::format("buffer {} of 100", i)));
  }
  return Status::ok();
}

Status outOfMemory(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  const auto refused = backend->allocate(size_t{1} << 60);
  OPKIT_EXPECT(!refused, "allocate(2^60) must be refused, got a buffer");
  OPKIT_EXPECT(refused.error().code() == StatusCode::OutOfMemory, "allocate(2^60) must be OutOfMemory, got {}",
               refused.error().toString());
  OPKIT_EXPECT(refused.error().message().find('\n') == std::string::npos, "the refusal must be one line, got '{}'",
               refused.error().message());
  const auto small = backend->allocate(64);
  OPKIT_EXPECT(small.has_value(), "after a refusal, allocate(64) must work, got {}", small.error().toString());
  return Status::ok();
}

Status countedAllocations(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  const uint64_t before = backend->counters().allocations;
  std::vector<std::shared_ptr<Buffer>> kept;
  for (int i = 0; i < 3; ++i) {
    OPKIT_ASSIGN(auto buffer, backend->allocate(size_t{1} << 22));
    kept.push_back(std::move(buffer));
  }
  OPKIT_EXPECT(backend->counters().allocations > before, "counters().allocations must grow, stayed {}", before);
  return Status::ok();
}

Status aliases(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  const TensorDesc whole{DType::Float32, {4, 8}}, row{DType::Float32, {8}};
  OPKIT_ASSIGN(const auto buffer, backend->allocate(whole.sizeBytes() + backend->alignment()));
  OPKIT_ASSIGN(const Tensor values, pattern(whole, 5));
  OPKIT_TRY(backend->upload(values, {whole, buffer}));
  // The same bytes through another description.
  const Tensor flat{{DType::Float32, {32}}, buffer};
  OPKIT_ASSIGN(Tensor same, pattern(whole, 5));
  same.desc.shape = {32};
  OPKIT_TRY(expectHolds(*backend, flat, same, "a view of the same bytes"));
  OPKIT_ASSIGN(const Tensor other, pattern(row, 9));
  OPKIT_TRY(backend->upload(other, {row, buffer}));
  OPKIT_ASSIGN(const Tensor back, Tensor::onHost(whole));
  OPKIT_TRY(backend->download({whole, buffer}, back));
  const auto head = back.data<float>().subspan(0, 8), tail = back.data<float>().subspan(8);
  OPKIT_EXPECT(std::equal(head.begin(), head.end(), other.data<float>().begin()), "a write through an alias was lost");
  OPKIT_EXPECT(std::equal(tail.begin(), tail.end(), values.data<float>().begin() + 8),
               "a write through an alias changed its neighbours");
  return Status::ok();
}

}  // namespace

void addBufferTests(std::vector<Test>& tests) {
  tests.push_back({"buffers", "buffers.sizes", "sizes that are no multiple of anything", sizes});
  tests.push_back({"buffers", "buffers.alignment", "a power of two; neighbours at that distance are apart", alignment});
  tests.push_back({"buffers", "buffers.zero_bytes", "empty buffers and empty tensors are legal", zeroBytes});
  tests.push_back({"buffers", "buffers.many", "a hundred buffers keep a hundred contents", manyAtOnce});
  tests.push_back(
      {"buffers", "buffers.out_of_memory", "refused with OutOfMemory in one line, and usable afterwards", outOfMemory});
  tests.push_back({"buffers", "buffers.counted", "allocations are counted", countedAllocations});
  tests.push_back({"buffers", "buffers.aliasing", "two tensors over the same bytes see each other's writes", aliases});
}

}  // namespace opkit::harness::backend_suite
