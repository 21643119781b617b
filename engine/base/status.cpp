#include "engine/base/status.h"

#include <stdexcept>

namespace opkit {

const char* nameOf(StatusCode code) {
  switch (code) {
    case StatusCode::Ok: return "OK";
    case StatusCode::InvalidArgument: return "InvalidArgument";
    case StatusCode::Unsupported: return "Unsupported";
    case StatusCode::OutOfMemory: return "OutOfMemory";
    case StatusCode::DeviceLost: return "DeviceLost";
    case StatusCode::Corrupt: return "Corrupt";
    case StatusCode::Internal: return "Internal";
  }
  return "Unknown";
}

const std::string& Status::message() const {
  static const std::string empty;
  return state_ ? state_->message : empty;
}

std::string Status::toString() const {
  return state_ ? fmt::format("{}: {}", nameOf(state_->code), state_->message) : "OK";
}

Status Status::withContext(const std::string& context) const {
  Status status = *this;
  if (state_) status.state_->message = fmt::format("{}: {}", context, state_->message);
  return status;
}

void throwNoValue(const Status& error) { throw std::logic_error("a failed Result has no value: " + error.toString()); }

}  // namespace opkit
