// The backend conformance suite: the contract of a backend with the engine, as tests that know no backend by name.
//
// Each test gets a fresh Backend of one Runtime. A test passes, fails with a line of reason, or is unsupported: the
// backend returned Unsupported with a permanent reason. A failure listed as known is an expected failure. A listed test
// that passes is an unexpected pass, which fails: the list must shrink. `op-harness backend` runs them in workers.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/backend/backend_registry.h"
#include "engine/op/op_registry.h"

namespace opkit::harness::backend_suite {

/// The arguments of a test.
struct Context {
  BackendKind kind;
  std::shared_ptr<Runtime> runtime;  // shared with the tests' sessions
  const OpRegistry& registry;
  RuntimeOptions options = {};  // of the Runtime

  /// A new Backend with this configuration.
  Result<std::unique_ptr<Backend>> backend(const BackendConfig& config = {.threads = 1}) const {
    return runtime->createBackend(registry, config);
  }
};

struct Test {
  std::string group;  // buffers, copies, ...
  std::string name;   // "buffers.zero_bytes"
  std::string summary;
  std::function<Status(const Context&)> run;
};

/// Every test whose name contains `filter`, in the order in which they build on each other.
std::vector<Test> testsNamed(const std::string& filter);

void addBufferTests(std::vector<Test>& tests);
void addCopyTests(std::vector<Test>& tests);
void addRasterTests(std::vector<Test>& tests);
void addSessionTests(std::vector<Test>& tests);

enum class Outcome { Pass, Fail, Unsupported, ExpectedFailure, UnexpectedPass };
const char* nameOf(Outcome outcome);

struct Verdict {
  std::string name;
  std::string summary;
  Outcome outcome = Outcome::Fail;
  std::string reason;
};

/// Known failures by test name, with reasons.
using KnownFailures = std::map<std::string, std::string>;
/// Reads {"test.name": "reason"}; InvalidArgument names an entry that is no test or has no reason.
Result<KnownFailures> parseKnownFailures(const std::string& json);

/// The verdict on a test that ended with `status`.
Verdict verdictOf(const Test& test, const Status& status, const KnownFailures& known);
/// Runs the tests in this process.
std::vector<Verdict> judge(const std::vector<Test>& tests, const Context& context, const KnownFailures& known);

/// Fails the test with a line that states the expected and the found value.
#define OPKIT_EXPECT(condition, ...)                        \
  do {                                                      \
    if (!(condition)) return Status::internal(__VA_ARGS__); \
  } while (false)

}  // namespace opkit::harness::backend_suite
