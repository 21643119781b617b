// Programs beside a failure of a guest: they show it without OpKit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "harness/export/exported_case.h"
#include "harness/guest/guest.h"

namespace opkit::harness {

/// A file for the folder of the case, beside model.onnx (harness/export/case_folder.h).
struct ShowFile {
  std::string name;
  std::vector<uint8_t> bytes;
};

/// A program of at most 30 lines, and the values that it reads if they are many: `show.mjs` for a provider that npm's
/// onnxruntime-node has, with types that JavaScript has; else `show.cpp`. It runs all data sets in one session; of
/// several it runs the first ones again. It prints the first elements of each output and the worst, and ends with 1 if
/// one is beyond its bound. `title` says what fails, in one line. Unsupported: types that the program cannot compare.
Result<std::vector<ShowFile>> showProgram(const ExportedModel& model, const GuestChoice& choice, const GuestInfo& info,
                                          const std::string& title);

}  // namespace opkit::harness
