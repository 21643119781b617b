#include "harness/check/guard_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>

namespace opkit::harness {
namespace {

size_t pageBytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

size_t alignUp(size_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

class GuardedBuffer final : public Buffer {
 public:
  static Result<std::shared_ptr<GuardedBuffer>> create(const TensorDesc& desc, size_t alignment) {
    const size_t used = alignUp(std::max<size_t>(desc.sizeBytes(), 1), alignment);
    const size_t usable = alignUp(used, pageBytes());
    const size_t mapped = usable + 2 * pageBytes();
    void* memory = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return Status::outOfMemory("no {} bytes for a guarded tensor", mapped);
    auto* first = static_cast<std::byte*>(memory) + pageBytes();
    if (mprotect(first, usable, PROT_READ | PROT_WRITE) != 0) {
      munmap(memory, mapped);
      return Status::outOfMemory("no {} bytes for a guarded tensor", usable);
    }
    return std::shared_ptr<GuardedBuffer>(new GuardedBuffer(desc, memory, mapped, first + usable - used, used));
  }
  ~GuardedBuffer() override {
    munmap(memory_, mapped_);
    std::erase(live(), this);
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  std::byte* hostData() override { return data_; }

  /// The buffers of this process, to report whose guard was touched.
  static std::vector<GuardedBuffer*>& live() {
    static std::vector<GuardedBuffer*> buffers;
    return buffers;
  }
  /// "4 bytes past the end of f32[7]", or empty if the address is not in this buffer's guards.
  std::string describe(const std::byte* address) const {
    const auto* base = static_cast<const std::byte*>(memory_);
    if (address < base || address >= base + mapped_) return "";
    if (address < data_) return fmt::format("{} bytes before {}", data_ - address, desc_.toString());
    return fmt::format("{} bytes past the end of {}", address - (data_ + desc_.sizeBytes()) + 1, desc_.toString());
  }

 private:
  GuardedBuffer(TensorDesc desc, void* memory, size_t mapped, std::byte* data, size_t used)
      : Buffer(used), desc_(std::move(desc)), memory_(memory), mapped_(mapped), data_(data) {
    live().push_back(this);
  }
  TensorDesc desc_;
  void* memory_;
  size_t mapped_;
  std::byte* data_;
};

thread_local sigjmp_buf* landing = nullptr;
thread_local const std::byte* touched = nullptr;

void onFault(int signal, siginfo_t* info, void*) {
  if (!landing) {  // not ours: let it end the process
    std::signal(signal, SIG_DFL);
    return;
  }
  touched = static_cast<const std::byte*>(info->si_addr);
  siglongjmp(*landing, 1);
}

}  // namespace

Result<Tensor> onGuardedPages(const TensorDesc& desc, size_t alignment) {
  OPKIT_ASSIGN(std::shared_ptr<GuardedBuffer> buffer, GuardedBuffer::create(desc, alignment));
  Tensor tensor;
  tensor.desc = desc;
  tensor.buffer = std::move(buffer);
  return tensor;
}

Status withGuardPages(const std::function<Status()>& body) {
  struct sigaction action = {}, old = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, &old);
  sigjmp_buf here;
  Status status;
  if (sigsetjmp(here, 1) == 0) {
    landing = &here;
    status = body();
  } else {
    std::string what;
    for (const GuardedBuffer* buffer : GuardedBuffer::live())
      if (what.empty()) what = buffer->describe(touched);
    status = Status::internal("the kernel touched memory {}", what.empty() ? "that is not its own" : what);
  }
  landing = nullptr;
  sigaction(SIGSEGV, &old, nullptr);
  return status;
}

}  // namespace opkit::harness
