#include "harness/run/worker_note.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include "engine/base/crash_line.h"
#include "harness/run/processor_time.h"

namespace opkit::harness {
namespace {

constexpr size_t kNoteBytes = 4096;
constexpr size_t kMostNoted = 1000;
constexpr size_t kSecondsOffset = 2048;  // a double, behind the text

char*& ownNote() {
  static char* note = nullptr;
  return note;
}

double& secondsIn(char* note) { return *reinterpret_cast<double*>(note + kSecondsOffset); }

}  // namespace

NotePage::NotePage() {
  void* const page = mmap(nullptr, kNoteBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) text_ = static_cast<char*>(page);
}

NotePage::~NotePage() {
  if (text_) munmap(text_, kNoteBytes);
}

NotePage::NotePage(NotePage&& other) noexcept : text_(std::exchange(other.text_, nullptr)) {}

NotePage& NotePage::operator=(NotePage&& other) noexcept {
  std::swap(text_, other.text_);
  return *this;
}

std::string NotePage::read() const { return text_ ? std::string(text_, strnlen(text_, kMostNoted)) : ""; }

double NotePage::moreSeconds() const { return text_ ? secondsIn(text_) : 0; }

void NotePage::clear() {
  if (!text_) return;
  text_[0] = 0;
  secondsIn(text_) = 0;
}

void NotePage::adopt() { ownNote() = text_; }

void noteWork(std::string_view text) {
  char* const note = ownNote();
  if (!note) return noteForCrash(text);
  const size_t size = std::min(text.size(), kMostNoted);
  std::memcpy(note, text.data(), size);
  note[size] = 0;
}

void needMoreTime(double seconds) {
  if (char* const note = ownNote()) secondsIn(note) += seconds;
}

std::string activityOf(pid_t process) {
  constexpr useconds_t kLookUs = 100'000;
  const auto before = threadTimesOf(process);
  usleep(kLookUs);
  double device = 0, driver = 0, own = 0;
  for (const auto& [thread, times] : threadTimesOf(process)) {
    const auto found = before.find(thread);
    if (found == before.end()) continue;
    std::ifstream file(fmt::format("/proc/{}/task/{}/comm", process, thread));
    std::string name;
    std::getline(file, name);
    (isDeviceThread(name) ? device
     : times.driver > 0   ? driver
                          : own) += times.ran + times.waited - found->second.ran - found->second.waited;
  }
  constexpr double kLeastSeconds = 0.02;
  if (std::max({device, driver, own}) < kLeastSeconds) return "all its threads sleep";
  if (driver > std::max(device, own)) return "the driver compiles or copies";
  return device > own ? "the device's threads run" : "its own code runs";
}

}  // namespace opkit::harness
