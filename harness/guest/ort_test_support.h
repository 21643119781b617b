// ONNX Runtime in tests: where it is, and the process that may load it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "harness/guest/guest.h"
#include "harness/run/isolated_jobs.h"

namespace opkit::harness {

/// The library, or "" if it is not there. From now on what it leaves in the folder of temporary files goes with the
/// test.
inline std::string ortForTests() {
  static const int isMoved = setenv("TMPDIR", testing::TempDir().c_str(), 1);
  static_cast<void>(isMoved);
  const char* named = std::getenv("OPKIT_ORT_LIBRARY");
  const std::string path = named ? named
                                 : OPKIT_SOURCE_DIR
                               "/build/ort-tools/node_modules/onnxruntime-node/bin/napi-v6/linux/x64/"
                               "libonnxruntime.so.1";
  return std::filesystem::exists(path) ? path : "";
}

inline GuestChoice guestForTests(const std::string& provider) {
  GuestChoice choice;
  choice.library = ortForTests();
  choice.provider = provider;
  return choice;
}

/// The answer of a job in a worker process, or how the process ended.
inline std::string inWorker(const std::function<std::string()>& job) {
  std::string answer = "no answer";
  const Status status = runIsolated(
      1, 1, 120, [&](size_t) { return job(); },
      [&](size_t, const JobOutcome& outcome) {
        answer = outcome.kind == JobOutcome::Kind::Answered ? outcome.answer : lossText(outcome, 120);
      });
  return status.isOk() ? answer : status.toString();
}

}  // namespace opkit::harness

#define OPKIT_SKIP_WITHOUT_ORT() \
  if (::opkit::harness::ortForTests().empty()) GTEST_SKIP() << "no ONNX Runtime: set OPKIT_ORT_LIBRARY"
