#include "harness/run/closed_output.h"

namespace opkit::harness {
namespace {

volatile std::sig_atomic_t seen = 0;

void onClosed(int) { seen = 1; }

}  // namespace

ClosedOutput::ClosedOutput() {
  struct sigaction action = {};
  action.sa_handler = onClosed;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGPIPE, &action, &before_);
}

ClosedOutput::~ClosedOutput() {
  ::sigaction(SIGPIPE, &before_, nullptr);
  if (isSeen()) static_cast<void>(::raise(SIGPIPE));
}

bool ClosedOutput::isSeen() { return seen != 0; }

}  // namespace opkit::harness
