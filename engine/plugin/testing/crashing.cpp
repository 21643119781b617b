// A plugin with a backend, an operator and a kernel that are right, but for one entry point, which OPKIT_CRASH names:
// "upload segv" crashes there. A third word is a file: the fault happens only while it does not exist, and makes it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "opkit_plugin.h"

namespace {

const opkit_host* host = nullptr;

struct Fault {
  std::string entry, how, once;

  static Fault read() {
    Fault fault;
    if (const char* text = std::getenv("OPKIT_CRASH"))
      std::istringstream(text) >> fault.entry >> fault.how >> fault.once;
    return fault;
  }
};

[[noreturn]] void hang() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

[[noreturn]] void takeMemory() {
  constexpr size_t kPiece = size_t{1} << 24;
  for (std::vector<char*> held;;) held.push_back(static_cast<char*>(std::memset(::operator new(kPiece), 1, kPiece)));
}

/// The beginning of every entry point. True: its results shall be wrong.
bool enter(const char* entry) {
  static const Fault fault = Fault::read();
  if (fault.entry != entry) return false;
  if (!fault.once.empty()) {
    const int made = ::open(fault.once.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made < 0) return false;
    ::close(made);
  }
  if (fault.how == "segv") std::raise(SIGSEGV);
  if (fault.how == "abort") std::abort();
  if (fault.how == "exit") ::_exit(0);
  if (fault.how == "throw") throw std::runtime_error("planted");
  if (fault.how == "hang") hang();
  if (fault.how == "memory") takeMemory();
  if (fault.how == "thread")
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::raise(SIGSEGV);
    }).detach();
  return fault.how == "wrong";
}

struct Library {
  Library() { enter("constructor"); }
  ~Library() {
    try {
      enter("destructor");
    } catch (...) {
      std::abort();
    }
  }
};
const Library library;

int device = 0;  // `open` hands out its address

opkit_code open(opkit_call*, void*, void** opened) {
  enter("open");
  *opened = &device;
  return OPKIT_OK;
}
void close(void*, void*) { enter("close"); }

opkit_code allocate(void*, void*, uint64_t bytes, void** memory) {
  enter("allocate");
  *memory = std::malloc(std::max<uint64_t>(bytes, 1));
  return *memory ? OPKIT_OK : OPKIT_OUT_OF_MEMORY;
}
void release(void*, void*, void* memory) {
  enter("release");
  std::free(memory);
}
opkit_code upload(void*, void*, const void* from, void* memory, uint64_t offset, uint64_t bytes) {
  const bool isWrong = enter("upload");
  std::memcpy(static_cast<char*>(memory) + offset, from, isWrong && bytes > 0 ? bytes - 1 : bytes);
  return OPKIT_OK;
}
opkit_code download(void*, void*, const void* memory, uint64_t offset, void* to, uint64_t bytes) {
  enter("download");
  std::memcpy(to, static_cast<const char*>(memory) + offset, bytes);
  return OPKIT_OK;
}

opkit_code supports(opkit_call* call, void*) {
  enter("supports");
  const opkit_tensor* x = host->input(call, 0);
  if (std::strcmp(host->type(call), "Relu") != 0 || !x || x->dtype != OPKIT_F32)
    return host->fail(call, OPKIT_UNSUPPORTED, "crashing: only Relu of f32");
  return OPKIT_OK;
}
opkit_code create(opkit_call*, void*, void** state) {
  enter("create");
  *state = &device;
  return OPKIT_OK;
}
opkit_code resize(opkit_call*, void*, void*) {
  enter("resize");
  return OPKIT_OK;
}
const float* elementsOf(const opkit_tensor* tensor) {
  if (tensor->data) return static_cast<const float*>(tensor->data);
  return reinterpret_cast<const float*>(static_cast<const char*>(tensor->memory) + tensor->offset);
}
opkit_code execute(opkit_call* call, void*, void*) {
  const bool isWrong = enter("execute");
  const float* x = elementsOf(host->input(call, 0));
  auto* y = const_cast<float*>(elementsOf(host->output(call, 0)));
  for (int64_t i = 0; i < host->input(call, 0)->elements; ++i) y[i] = x[i] < 0 || isWrong ? 0 : x[i];
  return OPKIT_OK;
}
void destroy(void*, void*) { enter("destroy"); }

opkit_code infer(opkit_call* call, void*) {
  enter("infer");
  const opkit_tensor* x = host->input(call, 0);
  return host->set_output(call, 0, x->dtype, x->rank, x->shape);
}
opkit_code oracle(opkit_call* call, void*) {
  enter("oracle");
  const opkit_wide_tensor* x = host->wide_input(call, 0);
  for (int64_t i = 0; i < x->elements; ++i) host->wide_output(call, 0)->real[i] = std::max(x->real[i], 0.0);
  return OPKIT_OK;
}

opkit_code load(const opkit_host* functions, opkit_registrar* registrar) {
  host = functions;
  enter("load");
  opkit_kernel kernel{OPKIT_STRUCT(opkit_kernel)};
  kernel.supports = supports;
  kernel.create = create;
  kernel.resize = resize;
  kernel.execute = execute;
  kernel.destroy = destroy;
  opkit_backend backend{OPKIT_STRUCT(opkit_backend)};
  backend.name = "crashing";
  backend.summary = "right, but for one entry point";
  backend.device_name = "planted";
  backend.open = open;
  backend.close = close;
  backend.allocate = allocate;
  backend.release = release;
  backend.upload = upload;
  backend.download = download;
  backend.kernel = &kernel;
  host->add_backend(registrar, &backend);

  const opkit_port x{OPKIT_STRUCT(opkit_port), "x", OPKIT_BIT(OPKIT_F32), OPKIT_REQUIRED, 0};
  const opkit_port y{OPKIT_STRUCT(opkit_port), "y", 0, OPKIT_REQUIRED, 0};
  opkit_kernel cpu{OPKIT_STRUCT(opkit_kernel)};
  cpu.execute = execute;
  opkit_operator op{OPKIT_STRUCT(opkit_operator)};
  op.type = "com.test::Crashing";
  op.summary = "Relu, but for one entry point";
  op.inputs = &x;
  op.input_count = 1;
  op.outputs = &y;
  op.output_count = 1;
  op.infer = infer;
  op.oracle = oracle;
  op.cpu = &cpu;
  return host->add_operator(registrar, &op);
}

void unload() { enter("unload"); }

}  // namespace

extern "C" OPKIT_PLUGIN_EXPORT const opkit_plugin* opkit_plugin_get() {
  static const opkit_plugin plugin{OPKIT_STRUCT(opkit_plugin), "crashing", "0", load, unload};
  enter("get");
  return &plugin;
}
