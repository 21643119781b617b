// Interrupts: how every OpKit program handles SIGINT, SIGTERM, SIGHUP and a closed stdout pipe.
//
// After catchInterrupts, SIGINT, SIGTERM and SIGHUP (unless nohup(1) ignores it) remove the temporary files, print
// "PROGRAM: interrupted" on stderr and end the process with 130, 143 or 129; SIGPIPE ends it silently with 141. A
// command with results to keep opens a GracefulInterrupt and checks interrupted() between pieces of work. A library
// never calls catchInterrupts: signals belong to programs. Thread-safe.
#pragma once

#include <csignal>
#include <string>

namespace opkit {

/// Installs the handlers. `program` is the name at the start of the line.
void catchInterrupts(const std::string& program);

/// The signal that requested an orderly end; 0 if none did. Only set inside a GracefulInterrupt.
int interruptSignal();
inline bool interrupted() { return interruptSignal() != 0; }

/// While one exists, a first such signal only sets interruptSignal(): the command stops by itself, and poll() and
/// sleep end early. Scopes may nest.
class GracefulInterrupt {
 public:
  enum class Patience {
    Short,      // a second signal, or three seconds, end the process as if there were no scope
    Unlimited,  // the work must be finished or undone: no signal ends it earlier
  };
  explicit GracefulInterrupt(Patience patience = Patience::Short);
  ~GracefulInterrupt();
  GracefulInterrupt(const GracefulInterrupt&) = delete;
  GracefulInterrupt& operator=(const GracefulInterrupt&) = delete;

 private:
  Patience patience_;
};

/// A temporary file: the destructor removes it, and so do the signals above.
class TemporaryFile {
 public:
  /// Does not create the file. Beyond 64 at a time, only destructors remove them.
  explicit TemporaryFile(std::string path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  /// Call after renaming the file to its final name: it is no longer removed.
  void keep();

 private:
  std::string path_;
  size_t slot_;
};

/// Removes those of this process, as the signals do: for a process that is about to end. Async-signal-safe.
void removeTemporaryFiles();

/// Ends a worker, which removes its own temporary files first.
inline constexpr int kEndWorker = SIGUSR1;

/// For a forked worker. The parent handles SIGINT, SIGTERM and SIGHUP, which reach the whole process group, and its own
/// temporary files. The worker gets kEndWorker when its parent `parent` ends for any reason.
void becomeWorker(int parent);

}  // namespace opkit
