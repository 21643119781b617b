#include "harness/run/isolated_jobs.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

#include "engine/base/checked_file.h"
#include "engine/base/guard.h"
#include "engine/base/interrupt.h"
#include "harness/run/worker_clock.h"
#include "harness/run/worker_note.h"

namespace opkit::harness {
namespace {

/// Workers of this process that run, of all pools. Used by one thread, as pools are.
std::set<pid_t>& running() {
  static std::set<pid_t> workers;
  return workers;
}

bool readAll(int fd, void* data, size_t size) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = read(fd, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

/// Writes to a process that may have ended: gives an error then, not a signal.
bool sendAll(int fd, const void* data, size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t put = send(fd, bytes, size, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes += put;
    size -= static_cast<size_t>(put);
  }
  return true;
}

/// Private writable memory of this process in bytes; 0 if unknown.
size_t dataBytes() {
  std::ifstream status("/proc/self/status");
  size_t kibibytes = 0;
  for (std::string word; kibibytes == 0 && status >> word;)
    if (word == "VmData:") status >> kibibytes;
  return kibibytes << 10;
}

/// Memory inherited from the parent is not counted. Neither is address space: drivers and sanitizers reserve far more
/// than they use.
void limitMemory(size_t bytes) {
  const size_t most = dataBytes() + bytes;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_DATA, &limit);
}

/// The header of an answer.
struct AnswerHead {
  size_t length = 0;
  bool thrown = false;  // the text is not the job's answer but the exception that it threw
};

Result<std::string> answerOf(const std::function<std::string(size_t)>& job, size_t index) {
  return guarded([&]() -> Result<std::string> { return job(index); });
}

/// Main loop of a worker: reads an index, writes the length and text of the answer, until the other end closes.
[[noreturn]] void serve(int channel, pid_t parent, size_t memoryBytes, const std::function<std::string(size_t)>& job) {
  becomeWorker(parent);
  if (memoryBytes > 0) limitMemory(memoryBytes);
  size_t index = 0;
  while (readAll(channel, &index, sizeof(index))) {
    const Result<std::string> answer = answerOf(job, index);
    const std::string text = answer ? *answer : answer.error().toString();
    const AnswerHead head{text.size(), !answer};
    if (!sendAll(channel, &head, sizeof(head)) || !sendAll(channel, text.data(), text.size())) break;
    if (head.thrown) break;  // unfinished work ends with this process
  }
  _exit(0);  // without running the parent's destructors
}

/// Gives a worker that was asked to end time to clean up.
void waitAMoment(pid_t worker) {
  constexpr int kMostMs = 500;
  for (int ms = 0; ms < kMostMs; ++ms) {
    siginfo_t ended = {};
    if (waitid(P_PID, static_cast<id_t>(worker), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0) return;
    usleep(1000);
  }
}

struct Worker {
  pid_t pid = -1;
  Descriptor channel;
  size_t job = 0;
  bool busy = false;
  ProcessClock clock;
  NotePage note;
};

class Pool {
 public:
  Pool(size_t count, const IsolationLimits& limits, const std::function<std::string(size_t)>& job,
       const std::function<void(size_t, const JobOutcome&)>& done)
      : count_(count), limits_(limits), job_(job), done_(done) {}
  ~Pool() {
    if (stopped())  // all at once, before the first is waited for
      for (const Worker& worker : workers_)
        if (worker.busy) kill(worker.pid, kEndWorker);
    for (Worker& worker : workers_) stop(worker);
  }

  Status run(size_t workers) {
    workers_.resize(std::min(workers, count_));
    for (Worker& worker : workers_) OPKIT_TRY(assign(worker));
    while (finished_ < count_ && !stopped()) OPKIT_TRY(waitForSome());
    return Status::ok();
  }

 private:
  bool stopped() const { return interrupted() || (limits_.stop && limits_.stop()); }

  Status start(Worker& worker) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return Status::internal("no channel for a worker: {}", std::strerror(errno));
    worker.channel = Descriptor(ends[0]);
    const Descriptor theirs(ends[1]);
    std::fflush(nullptr);  // or the worker would print what is buffered again
    const pid_t self = getpid();
    worker.pid = fork();
    if (worker.pid < 0) return Status::internal("no process for a worker: {}", std::strerror(errno));
    if (worker.pid > 0) {
      running().insert(worker.pid);
      worker.clock = ProcessClock(worker.pid);
      return Status::ok();
    }
    running().clear();
    for (Worker& other : workers_) other.channel = Descriptor();  // or the others would never see theirs close
    worker.note.adopt();
    serve(theirs.get(), self, limits_.memoryBytes, job_);
  }

  /// Closes the channel, ends the process if it still runs, and returns how it ended.
  std::string stop(Worker& worker) {
    if (worker.pid < 0) return "";
    worker.channel = Descriptor();
    if (worker.busy && stopped()) waitAMoment(worker.pid);
    if (worker.busy) kill(worker.pid, SIGKILL);
    int state = 0;
    waitpid(worker.pid, &state, 0);
    running().erase(worker.pid);
    worker = {};
    if (WIFSIGNALED(state)) return fmt::format("signal {} ({})", WTERMSIG(state), strsignal(WTERMSIG(state)));
    return fmt::format("exit code {}", WEXITSTATUS(state));
  }

  Status assign(Worker& worker) {
    if (next_ == count_ || stopped()) return Status::ok();
    if (worker.pid < 0) OPKIT_TRY(start(worker));
    worker.job = next_++;
    worker.busy = true;
    worker.note.clear();
    worker.clock.begin(limits_.timeoutOf ? limits_.timeoutOf(worker.job) : limits_.timeoutSeconds);
    // A worker that ended before its job is noticed where the answer is read.
    static_cast<void>(sendAll(worker.channel.get(), &worker.job, sizeof(worker.job)));
    return Status::ok();
  }

  Status finish(Worker& worker, const JobOutcome& outcome) {
    worker.busy = false;
    ++finished_;
    const size_t job = worker.job;
    if (outcome.kind != JobOutcome::Kind::Answered) worker.job = 0;
    if (worker.pid >= 0 && limits_.replaceBytes > 0 && residentBytes(worker.pid) > limits_.replaceBytes) stop(worker);
    done_(job, outcome);
    return assign(worker);
  }

  Status receive(Worker& worker) {
    AnswerHead head;
    JobOutcome outcome;
    bool complete = readAll(worker.channel.get(), &head, sizeof(head));
    if (complete) {
      outcome.answer.resize(head.length);
      complete = readAll(worker.channel.get(), outcome.answer.data(), head.length);
    }
    if (complete && !head.thrown) return finish(worker, outcome);
    const size_t job = worker.job;
    worker.busy = false;  // it has ended by itself: reap it, no signal needed
    const std::string where = worker.note.read(), ended = stop(worker);
    outcome = {JobOutcome::Kind::Crashed, complete ? outcome.answer : ended, where, ""};
    worker.job = job;
    return finish(worker, outcome);
  }

  Status expire(Worker& worker) {
    const size_t job = worker.job;
    const JobOutcome late{JobOutcome::Kind::TimedOut, "", worker.note.read(), activityOf(worker.pid)};
    stop(worker);
    worker.job = job;
    return finish(worker, late);
  }

  Status waitForSome() {
    std::vector<pollfd> waits;
    std::vector<Worker*> busy;
    double patienceSeconds = 1;
    for (Worker& worker : workers_) {
      if (!worker.busy) continue;
      waits.push_back({worker.channel.get(), POLLIN, 0});
      busy.push_back(&worker);
      patienceSeconds = std::min(patienceSeconds, worker.clock.patienceSeconds());
    }
    if (busy.empty()) return Status::internal("{} of {} jobs were not run", count_ - finished_, count_);
    poll(waits.data(), waits.size(), static_cast<int>(std::ceil(patienceSeconds * 1000)));
    if (stopped()) return Status::ok();
    for (size_t i = 0; i < waits.size(); ++i) {
      busy[i]->clock.allow(busy[i]->note.moreSeconds());
      if (waits[i].revents != 0)
        OPKIT_TRY(receive(*busy[i]));
      else if (busy[i]->clock.isOver())
        OPKIT_TRY(expire(*busy[i]));
    }
    return Status::ok();
  }

  size_t count_;
  IsolationLimits limits_;
  const std::function<std::string(size_t)>& job_;
  const std::function<void(size_t, const JobOutcome&)>& done_;
  std::vector<Worker> workers_;
  size_t next_ = 0;
  size_t finished_ = 0;
};

}  // namespace

std::string lossText(const JobOutcome& outcome, double limitSeconds) {
  if (outcome.kind == JobOutcome::Kind::Crashed) return "the worker process ended with " + outcome.answer;
  std::string text = fmt::format("no answer within {:.3g} s", limitSeconds);
  if (!outcome.where.empty()) text += ", in " + outcome.where;
  if (!outcome.activity.empty()) text += ": " + outcome.activity;
  return text;
}

std::string placedLossText(const JobOutcome& outcome, double limitSeconds) {
  const bool isPlaced = outcome.kind == JobOutcome::Kind::Crashed && !outcome.where.empty();
  return lossText(outcome, limitSeconds) + (isPlaced ? ", in " + outcome.where : "");
}

size_t residentBytes(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/statm");
  size_t all = 0, resident = 0;
  status >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

double runningWorkersSeconds() {
  double sum = 0;
  for (const pid_t worker : running()) sum += processSeconds(worker);
  return sum;
}

Status runIsolated(size_t count, const IsolationLimits& limits, const std::function<std::string(size_t)>& job,
                   const std::function<void(size_t, const JobOutcome&)>& done) {
  return Pool(count, limits, job, done).run(std::max<size_t>(limits.workers, 1));
}

Status runIsolated(size_t count, size_t workers, double timeoutSeconds, const std::function<std::string(size_t)>& job,
                   const std::function<void(size_t, const JobOutcome&)>& done) {
  return runIsolated(count, IsolationLimits{.workers = workers, .timeoutSeconds = timeoutSeconds}, job, done);
}

}  // namespace opkit::harness
