// The host's functions as C calls them: nothing is thrown across the table, even without memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "engine/plugin/call.h"
#include "engine/plugin/graph_view.h"
#include "engine/plugin/registrar.h"

namespace {
thread_local bool refusing = false;
}  // namespace

// All memory of this program comes from here.
void* operator new(size_t bytes) {
  if (void* const memory = refusing ? nullptr : std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return refusing ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace opkit::plugin {
namespace {

/// Runs `body` while the system refuses all memory.
template <class Body>
auto withoutMemory(Body body) {
  refusing = true;
  const auto answer = body();
  refusing = false;
  return answer;
}

const int64_t kShape[] = {2, 3, 4, 5, 6, 7};

TEST(HostTable, ACallWithoutMemoryFailsItsCallback) {
  const opkit_host& host = hostTable();
  opkit_call call("test");
  call.setOutputCount(1);
  opkit_code seen = OPKIT_OK;
  const Status status = call.invoke("infer", [&] {
    seen = withoutMemory([&] { return host.set_output(&call, 0, OPKIT_F32, 6, kShape); });
    return OPKIT_OK;  // a plugin that does not look at codes
  });
  EXPECT_EQ(seen, OPKIT_OUT_OF_MEMORY);
  EXPECT_EQ(status.code(), StatusCode::OutOfMemory) << status.toString();
}

TEST(HostTable, AFailureKeepsItsCodeWhenItsMessageFindsNoMemory) {
  const opkit_host& host = hostTable();
  opkit_call call("test");
  const Status status = call.invoke("execute", [&] {
    return withoutMemory(
        [&] { return host.fail(&call, OPKIT_UNSUPPORTED, "a message that is longer than a small one"); });
  });
  EXPECT_NE(status.code(), StatusCode::Ok);
}

TEST(HostTable, APluginThatRunsOutOfMemoryIsOutOfMemory) {
  opkit_call call("test");
  const Status status = call.invoke("execute", []() -> opkit_code { throw std::bad_alloc(); });
  EXPECT_EQ(status.code(), StatusCode::OutOfMemory);
  EXPECT_NE(status.message().find("plugin 'test': execute"), std::string::npos) << status.message();
}

TEST(HostTable, AnnouncingWithoutMemoryRefusesThePlugin) {
  const opkit_host& host = hostTable();
  Contents contents;
  opkit_registrar registrar(contents);
  const opkit_operator op{OPKIT_STRUCT(opkit_operator), "com.example::Something",
                          "a summary that needs memory of its own"};
  EXPECT_NE(withoutMemory([&] { return host.add_operator(&registrar, &op); }), OPKIT_OK);
  EXPECT_TRUE(contents.operators.empty());
  EXPECT_EQ(registrar.verdict().code(), StatusCode::OutOfMemory);
}

}  // namespace
}  // namespace opkit::plugin
