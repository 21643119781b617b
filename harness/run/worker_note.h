// The note of a worker process: what it works on, in memory that its parent reads when the worker crashed or hangs.
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <string>
#include <string_view>

namespace opkit::harness {

/// A page that a process and its worker share.
class NotePage {
 public:
  NotePage();  // no page if the system refuses one: notes are lost then
  ~NotePage();
  NotePage(NotePage&& other) noexcept;
  NotePage& operator=(NotePage&& other) noexcept;

  /// The last note, or "".
  std::string read() const;
  /// Seconds that the worker asked for with needMoreTime() since clear().
  double moreSeconds() const;
  void clear();
  /// In the worker: noteWork() writes here from now on.
  void adopt();

 private:
  char* text_ = nullptr;
};

/// Says what this worker does from now on; cut to 1,000 characters. In a process that is no worker it is a note for the
/// line of a crash (engine/base/crash_line.h). Used by the thread that runs the jobs.
void noteWork(std::string_view text);

/// Asks for time beside the limit of the job, to look into a failure. As noteWork() otherwise.
void needMoreTime(double seconds);

/// What the threads of a process do, looked at for a moment: "its own code runs", "the device's threads run" (those of
/// a software device), "the driver compiles or copies" or "all its threads sleep".
std::string activityOf(pid_t process);

}  // namespace opkit::harness
