// ScriptProcess: one Python process that runs the function `oracle` of a script (driver.py) and answers one message
// after the other. It ends with this process. Used by one thread, the one that starts it.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/base/checked_file.h"
#include "harness/run/worker_clock.h"

namespace opkit::harness {

/// A JSON object, and the elements of the arrays that it describes.
struct ScriptMessage {
  std::string header;
  std::vector<uint8_t> payload;
};

class ScriptProcess {
 public:
  /// Starts Python and loads the script. The interpreter is $OPKIT_PYTHON, or else the first of `python3` and Debian's
  /// that has NumPy. InvalidArgument in one line if there is none, or the script cannot be used.
  static Result<ScriptProcess> start(const std::string& script);

  ~ScriptProcess();
  ScriptProcess(ScriptProcess&& other) noexcept
      : process_(std::exchange(other.process_, -1)), channel_(std::move(other.channel_)) {}
  ScriptProcess(const ScriptProcess&) = delete;
  ScriptProcess& operator=(ScriptProcess&&) = delete;

  /// The answer. Internal if the process ends or exceeds the time, by a WorkerClock; it has ended then, and isRunning()
  /// is false.
  Result<ScriptMessage> ask(const ScriptMessage& question, double seconds);
  bool isRunning() const { return process_ >= 0; }

 private:
  enum class Transfer { Done, Ended, Late };
  template <class Step>
  Transfer transfer(short events, size_t size, ProcessClock& clock, const Step& step);

  ScriptProcess(pid_t process, Descriptor channel) : process_(process), channel_(std::move(channel)) {}
  static Result<ScriptProcess> launch(const std::string& python, const std::string& script);
  Transfer send(const ScriptMessage& message, ProcessClock& clock);
  Transfer receive(ScriptMessage& message, ProcessClock& clock);
  /// Kills it if it still runs; "signal 11 (Segmentation fault)" or "exit code 3".
  std::string stop();

  pid_t process_ = -1;
  Descriptor channel_;
};

}  // namespace opkit::harness
