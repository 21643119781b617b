#include "harness/allocations/trial.h"

#include <exception>

#include "engine/base/host_memory.h"

namespace opkit::harness {
namespace {

constexpr const char* kNames[] = {"memory", "thread", "file", "device"};

/// A refused file is the caller's to mend; everything else is a lack of memory.
StatusCode codeFor(Refused::Kind kind) {
  return kind == Refused::Kind::File ? StatusCode::InvalidArgument : StatusCode::OutOfMemory;
}

struct InUse {
  explicit InUse(const Network& network)
      : blocks(RefusalWindow::live().blocks),
        hostBytes(hostMemoryInUse()),
        deviceBlocks(network.deviceBlocks ? network.deviceBlocks() : 0) {}
  size_t blocks;
  size_t hostBytes;
  size_t deviceBlocks;
};

class Trial {
 public:
  Trial(const Network& network, const Refused& refused, const std::vector<std::string>* expected)
      : network_(network),
        refused_(refused),
        expected_(expected),
        before_(network),
        subject_(network.make()),
        onDevice_(refused.kind == Refused::Kind::Device),
        window_(onDevice_ ? Request::Memory : static_cast<Request>(refused.kind),
                onDevice_ ? UINT64_MAX : refused.grants) {}

  TrialResult run() {
    subject_->refuseCreation(onDevice_ ? refused_.grants : Subject::kNone);
    for (size_t i = 0; i < subject_->stepCount() && result_.fault.empty(); ++i) takeStep(i);
    const std::optional<uint64_t> left = subject_->dropRefusal();
    if (onDevice_ && !failed_) result_.reached = !left;
    subject_.reset();
    const RefusalPause pause;
    if (left && !onDevice_) result_.requests[static_cast<size_t>(Refused::Kind::Device)] = Subject::kNone - *left;
    if (!onDevice_) result_.reached = window_.disarm();
    result_.tolerated = result_.reached && !failed_;
    for (size_t kind = 0; kind < kRequests; ++kind)
      result_.requests[kind] = window_.requests(static_cast<Request>(kind));
    checkNothingIsLeft();
    return std::move(result_);
  }

 private:
  void takeStep(size_t i) {
    Status status = attempt(i);
    if (!status.isOk()) {
      checkFailure(i, status);
      if (!result_.fault.empty()) return;
      status = attempt(i);
    }
    const RefusalPause pause;
    if (!status.isOk()) return blame(i, fmt::format("failed again with nothing refused: {}", status.toString()));
    result_.values.push_back(subject_->valuesAfter(i));
    if (expected_ && result_.values[i] != expected_->at(i))
      blame(i, failed_ ? "gave other values after the refusal" : "gave other values");
  }

  Status attempt(size_t i) {
    try {
      return subject_->step(i);
    } catch (const std::exception& error) {
      const RefusalPause pause;
      threw_ = error.what();
      return Status::internal("thrown");
    }
  }

  void checkFailure(size_t i, const Status& status) {
    const RefusalPause pause;
    const bool refusedNow = !failed_ && (onDevice_ ? !subject_->dropRefusal() : window_.disarm());
    failed_ = true;
    if (!threw_.empty()) return blame(i, fmt::format("threw {}", threw_));
    if (!refusedNow) return blame(i, fmt::format("failed with nothing refused: {}", status.toString()));
    result_.reached = true;
    result_.status = status.toString();
    if (status.message().empty() || status.message().find('\n') != std::string::npos)
      return blame(i, fmt::format("expected an error of one line, got '{}'", status.message()));
    if (status.code() != codeFor(refused_.kind))
      blame(i, fmt::format("expected {}, got {}", opkit::nameOf(codeFor(refused_.kind)), status.toString()));
  }

  void checkNothingIsLeft() {
    if (!result_.fault.empty()) return;
    const InUse after(network_);
    const auto compare = [this](const char* what, size_t before, size_t now) {
      if (before != now) result_.fault = fmt::format("{} {} before, {} after", before, what, now);
    };
    compare("blocks of the device", before_.deviceBlocks, after.deviceBlocks);
    compare("bytes of host tensors", before_.hostBytes, after.hostBytes);
    compare("blocks of memory", before_.blocks, after.blocks);
    result_.leaked = before_.blocks < after.blocks;
    if (result_.leaked) result_.fault += fmt::format(", the first of request {}", window_.firstLive());
  }

  void blame(size_t i, const std::string& what) { result_.fault = fmt::format("{}: {}", subject_->nameOf(i), what); }

  const Network& network_;
  const Refused& refused_;
  const std::vector<std::string>* expected_;
  const InUse before_;
  std::unique_ptr<Subject> subject_;
  const bool onDevice_;
  RefusalWindow window_;
  bool failed_ = false;  // a step did
  std::string threw_;
  TrialResult result_;
};

}  // namespace

const char* nameOf(Refused::Kind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<Refused::Kind> refusedKindNamed(const std::string& name) {
  for (const Refused::Kind kind : kRefusedKinds)
    if (name == nameOf(kind)) return kind;
  return std::nullopt;
}

TrialResult runTrial(const Network& network, const Refused& refused, const std::vector<std::string>* expected) {
  return Trial(network, refused, expected).run();
}

TrialResult runUndisturbed(const Network& network) {
  return runTrial(network, {Refused::Kind::Memory, UINT64_MAX}, nullptr);
}

}  // namespace opkit::harness
