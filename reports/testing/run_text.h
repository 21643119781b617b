// A run of a result file as text, for tests.
#pragma once

#include <string>

#include <fmt/format.h>

namespace opkit::reports {

/// A run of three lines and one per case; every text that a test varies is a field.
struct RunText {
  std::string id = "a", night, started = "2026-01-01T00:00:00Z", ended = "2026-01-01T01:00:00Z", commit = "c1";
  std::string command = "bench", kind = "bench", status = "pass", digest = "aa00000000000000", driver = "driver 1";
  double executeNs = 1000, margin = 0.25, loopNs = 500;
  int cases = 2;
  bool timed = true;
  double durationNs = 0;

  std::string timesOf(int i) const {
    if (!timed) return "";
    return fmt::format(R"(,"times":{{"executeWall":{{"min":{0},"median":{0},"mad":1,"samples":[{0}]}}}})",
                       executeNs + i);
  }
  std::string text() const {
    std::string lines;
    if (!night.empty())
      lines += fmt::format(R"({{"record":"plan","night":"{}"}})"
                           "\n",
                           night);
    lines += fmt::format(
        R"({{"record":"run","schema":2,"run":"{}","command":"{}","planned":{{"cpu":{}}},"started":"{}","commit":"{}","host":"h","cpu":"CPU","cores":4,"os":"Linux 6","compiler":"g++"}})"
        "\n",
        id, command, cases, started, commit);
    lines += fmt::format(
        R"({{"record":"device","run":"{}","backend":"cpu","name":"CPU","driver":"{}","uuid":"","software":false,"calibration":{{"loopNs":{},"copyBytesPerNs":10}}}})"
        "\n",
        id, driver, loopNs);
    for (int i = 0; i < cases; ++i)
      lines += fmt::format(
          R"({{"record":"case","run":"{}","kind":"{}","id":"Relu/f32[{}]","op":"Relu","backend":"cpu","provider":"opkit","dtype":"f32","status":"{}","reason":"{}","digest":"{}","durationNs":{},"repro":"op-harness {} --case 'Relu/f32[{}]'","accuracy":{{"margin":{},"nmse":1e-15}}{}}})"
          "\n",
          id, kind, i, status, status == "pass" ? "" : "why", digest, durationNs, command, i, margin, timesOf(i));
    return lines + fmt::format(R"({{"record":"summary","run":"{}","outcome":"complete","ended":"{}"}})"
                               "\n",
                               id, ended);
  }
};

}  // namespace opkit::reports
