// The backend conformance suite: what every backend owes the engine, as tests that know no backend by name.
//
// Each test gets a fresh Backend of one Runtime. A test passes, fails with a line of reason, or is unsupported: the
// backend said Unsupported, for good, with a reason. A failure that is listed as known is an expected failure; one that
// is listed and passes is an unexpected pass, which fails: the list must shrink. Used by `op-harness backend`.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/backend/backend_registry.h"
#include "engine/op/op_registry.h"

namespace opkit::harness::backend_suite {

/// What a test sees.
struct Context {
  BackendKind kind;
  std::shared_ptr<Runtime> runtime;  // shared with the tests' sessions
  const OpRegistry& registry;

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

/// Every test, in the order in which they build on each other.
std::vector<Test> allTests();

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

/// Known failures by test name, with the reason each has.
using KnownFailures = std::map<std::string, std::string>;
/// Reads {"test.name": "reason"}; InvalidArgument names an entry that is no test or has no reason.
Result<KnownFailures> parseKnownFailures(const std::string& json);

/// Runs the tests whose name contains `filter`; none is InvalidArgument.
Result<std::vector<Verdict>> runSuite(const Context& context, const std::string& filter, const KnownFailures& known);
/// Likewise on given tests.
std::vector<Verdict> judge(const std::vector<Test>& tests, const Context& context, const KnownFailures& known);

/// Fails the test with a line that says what was expected and what was found.
#define OPKIT_EXPECT(condition, ...)                        \
  do {                                                      \
    if (!(condition)) return Status::internal(__VA_ARGS__); \
  } while (false)

}  // namespace opkit::harness::backend_suite
