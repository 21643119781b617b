// Status and Result: errors caused by a model, a file, a user or a driver.
//
// A success costs one null pointer. A failure carries a code and one line that says where it happened,
// what was expected and what was found. Both types are values; they are as thread-safe as an int.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <new>
#include <string>
#include <utility>

namespace opkit {

enum class StatusCode { Ok, InvalidArgument, Unsupported, OutOfMemory, DeviceLost, Corrupt, Internal };

/// The code's name as printed in messages, for example "Unsupported".
const char* nameOf(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(const Status& other) : state_(other.state_ ? std::make_unique<State>(*other.state_) : nullptr) {}
  Status& operator=(const Status& other) {
    state_ = other.state_ ? std::make_unique<State>(*other.state_) : nullptr;
    return *this;
  }
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  static Status ok() { return {}; }

  /// The caller passed something outside the contract: shape, name, attribute, flag.
  template <class... Args>
  static Status invalidArgument(fmt::format_string<Args...> format, Args&&... args) {
    return {StatusCode::InvalidArgument, fmt::format(format, std::forward<Args>(args)...)};
  }
  /// Well-formed, but OpKit (or this kernel, or this device) does not do it.
  template <class... Args>
  static Status unsupported(fmt::format_string<Args...> format, Args&&... args) {
    return {StatusCode::Unsupported, fmt::format(format, std::forward<Args>(args)...)};
  }
  /// Unsupported because of this device: it lacks a feature or a limit of it is too low. The same kernel runs
  /// elsewhere, so a fallback with this reason is expected (Refusal::byDevice), and harnesses count it as declared by
  /// the device.
  template <class... Args>
  static Status unsupportedByDevice(fmt::format_string<Args...> format, Args&&... args) {
    Status status(StatusCode::Unsupported, fmt::format(format, std::forward<Args>(args)...));
    status.state_->byDevice = true;
    return status;
  }
  template <class... Args>
  static Status outOfMemory(fmt::format_string<Args...> format, Args&&... args) {
    return {StatusCode::OutOfMemory, fmt::format(format, std::forward<Args>(args)...)};
  }
  template <class... Args>
  static Status deviceLost(fmt::format_string<Args...> format, Args&&... args) {
    return {StatusCode::DeviceLost, fmt::format(format, std::forward<Args>(args)...)};
  }
  /// Bytes read from a file do not form what the file claims to be.
  template <class... Args>
  static Status corrupt(fmt::format_string<Args...> format, Args&&... args) {
    return {StatusCode::Corrupt, fmt::format(format, std::forward<Args>(args)...)};
  }
  /// Should not happen; a driver or OpKit itself violated its contract.
  template <class... Args>
  static Status internal(fmt::format_string<Args...> format, Args&&... args) {
    return {StatusCode::Internal, fmt::format(format, std::forward<Args>(args)...)};
  }

  bool isOk() const { return state_ == nullptr; }
  StatusCode code() const { return state_ ? state_->code : StatusCode::Ok; }
  /// Whether unsupportedByDevice() made it.
  bool isByDevice() const { return state_ && state_->byDevice; }
  /// The message, or "" on success.
  const std::string& message() const;
  /// "Unsupported: softmax: axis must be innermost", or "OK".
  std::string toString() const;
  /// The same failure with "context: " before its message; success stays success.
  Status withContext(const std::string& context) const;

 private:
  struct State {
    StatusCode code;
    std::string message;
    bool byDevice = false;
  };
  Status(StatusCode code, std::string message) : state_(std::make_unique<State>(State{code, std::move(message)})) {}

  std::unique_ptr<State> state_;
};

/// Throws std::logic_error: the program read a value where there is this failure. guarded() makes it an Internal error.
[[noreturn]] void throwNoValue(const Status& error);

/// A T, or the Status of the failure. Member names follow std::expected. Not a std::variant: it costs each source that
/// returns some T about 60 more functions to compile.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)), hasValue_(true) {}        // NOLINT(google-explicit-constructor)
  Result(Status error) : error_(std::move(error)), hasValue_(false) {}  // NOLINT(google-explicit-constructor)
  Result(const Result& other) : hasValue_(other.hasValue_) { construct(other); }
  Result(Result&& other) noexcept : hasValue_(other.hasValue_) { construct(std::move(other)); }
  Result& operator=(Result other) noexcept {
    destroy();
    hasValue_ = other.hasValue_;
    construct(std::move(other));
    return *this;
  }
  ~Result() { destroy(); }

  bool has_value() const { return hasValue_; }
  explicit operator bool() const { return hasValue_; }

  /// REQUIRES has_value(); throws std::logic_error otherwise.
  T& value() & { return checked().value_; }
  const T& value() const& { return checked().value_; }
  T&& value() && { return std::move(checked().value_); }
  T& operator*() & { return checked().value_; }
  const T& operator*() const& { return checked().value_; }
  T&& operator*() && { return std::move(checked().value_); }
  T* operator->() { return &checked().value_; }
  const T* operator->() const { return &checked().value_; }

  /// The failure, or OK when there is a value.
  Status error() const { return hasValue_ ? Status::ok() : error_; }

 private:
  Result& checked() {
    if (!hasValue_) throwNoValue(error_);
    return *this;
  }
  const Result& checked() const {
    if (!hasValue_) throwNoValue(error_);
    return *this;
  }
  template <class Other>
  void construct(Other&& other) {
    if (hasValue_)
      new (&value_) T(std::forward<Other>(other).value_);
    else
      new (&error_) Status(std::forward<Other>(other).error_);
  }
  void destroy() {
    if (hasValue_)
      value_.~T();
    else
      error_.~Status();
  }

  union {
    T value_;
    Status error_;
  };
  bool hasValue_;
};

}  // namespace opkit

#define OPKIT_CONCAT_INNER(a, b) a##b
#define OPKIT_CONCAT(a, b) OPKIT_CONCAT_INNER(a, b)

/// Returns from the enclosing function if `expression` (a Status) is a failure.
#define OPKIT_TRY(expression)                                                    \
  do {                                                                           \
    if (::opkit::Status status_ = (expression); !status_.isOk()) return status_; \
  } while (false)

/// OPKIT_ASSIGN(auto x, makeX()): unpacks a Result, or returns its failure.
#define OPKIT_ASSIGN(declaration, expression) \
  OPKIT_ASSIGN_IMPL(OPKIT_CONCAT(result_, __LINE__), declaration, expression)
#define OPKIT_ASSIGN_IMPL(result, declaration, expression) \
  auto result = (expression);                              \
  if (!result) return result.error();                      \
  declaration = *std::move(result)
