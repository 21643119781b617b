// Interrupts: what SIGINT, SIGTERM and a reader of stdout that has left mean in every program of OpKit.
//
// Once catchInterrupts was called, SIGINT and SIGTERM remove the temporary files, say "PROGRAM: interrupted" on stderr
// and end the process with 130 or 143; SIGPIPE ends it with 141 and says nothing. A command that has something to keep
// opens a GracefulInterrupt and asks interrupted() between its pieces of work. A library never calls catchInterrupts:
// signals belong to programs. Thread-safe.
#pragma once

#include <csignal>
#include <string>

namespace opkit {

/// Installs the handlers. `program` is the name that the line begins with.
void catchInterrupts(const std::string& program);

/// The signal that asked for an orderly end; 0 while none did. Only set inside a GracefulInterrupt.
int interruptSignal();
inline bool interrupted() { return interruptSignal() != 0; }

/// While one exists, a first SIGINT or SIGTERM only sets interruptSignal(): the command stops by itself, and poll() and
/// sleep end early. Scopes may nest.
class GracefulInterrupt {
 public:
  enum class Patience {
    Short,      // a second signal, or three seconds, end the process as if there were no scope
    Unlimited,  // what is being done must be finished or undone: nothing ends it before
  };
  explicit GracefulInterrupt(Patience patience = Patience::Short);
  ~GracefulInterrupt();
  GracefulInterrupt(const GracefulInterrupt&) = delete;
  GracefulInterrupt& operator=(const GracefulInterrupt&) = delete;

 private:
  Patience patience_;
};

/// A file that must not outlive its use: the destructor removes it, and so do the signals above.
class TemporaryFile {
 public:
  /// Does not make the file. More than 64 at a time are removed by their destructors only.
  explicit TemporaryFile(std::string path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  /// It was renamed to what it was made for: nothing is to be removed any more.
  void keep();

 private:
  std::string path_;
  size_t slot_;
};

/// Ends a worker, which removes its own temporary files first.
inline constexpr int kEndWorker = SIGUSR1;

/// In a forked worker: SIGINT and SIGTERM, which reach whole process groups, are the parent's to act on, and so are its
/// temporary files. The worker gets kEndWorker when its parent, which was `parent`, ends in whatever way.
void becomeWorker(int parent);

}  // namespace opkit
