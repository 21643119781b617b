// The options that choose a guest: --ort, --ep, --ep-library, --ep-option. `check` and `bench` have them.
#pragma once

#include "engine/tools/cli.h"
#include "harness/guest/guest.h"

namespace opkit::harness {

struct GuestOptions {
  GuestChoice choice;  // isGiven(): the command is about a guest

  void add(CLI::App& command);
  /// InvalidArgument: an option that leads to no guest; Unsupported: this is a partial build. OK without --ort. Loads
  /// nothing.
  Status check() const;
};

}  // namespace opkit::harness
