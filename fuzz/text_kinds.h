// Text kinds: the files that OpKit's programs read, models aside. Each is read by the function that a program calls,
// and then used as the program uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "fuzz/mutate.h"

namespace opkit::fuzz {

using Bytes = std::vector<uint8_t>;

/// The outcome of one input.
struct Trial {
  Status status;                   // why it was refused, if it was
  std::vector<std::string> notes;  // that a program would print
};

struct TextKind {
  std::vector<Bytes> seeds;  // all are accepted
  Mutant (*mutate)(const Bytes& seed, std::mt19937_64& random) = nullptr;
  std::function<Trial(const std::string& bytes)> attempt;
};

/// Reads and uses an input as a program does: what is thrown becomes the status.
Trial attempt(const TextKind& kind, const Bytes& bytes);
/// Empty, or what is wrong with the messages of an attempt: an error that says nothing about the input, no message, or
/// a line that is too long or could steer a terminal.
std::string faultOf(const Trial& trial);

/// The names of all kinds.
std::vector<std::string> textKindNames();
/// `folder` is for files that attempts write. REQUIRES a name of the above.
TextKind textKind(const std::string& name, const std::string& folder);

/// One mutant of a history: bytes of the file are damaged, or its tables in ways that SQLite calls intact.
Mutant mutateHistory(const Bytes& original, std::mt19937_64& random);

inline Bytes bytesOf(std::string_view text) { return {text.begin(), text.end()}; }
/// A file of the source tree; the process ends without it.
Bytes sourceFile(const std::string& path);
/// Writes a file of an attempt; returns its path.
std::string place(const std::string& folder, const std::string& name, const std::string& bytes);

// The kinds, by the library that reads them: report_kinds.cpp, table_kinds.cpp, case_kinds.cpp, scaffold_kinds.cpp.
TextKind historyKind(const std::string& folder);
TextKind resultsKind(const std::string& folder);
TextKind partsKind(const std::string& folder);
TextKind peersKind(const std::string& folder);
TextKind seriesKind(const std::string& folder);
TextKind opsPageKind(const std::string& folder);
TextKind costsKind(const std::string& folder);
TextKind marginsKind(const std::string& folder);
TextKind tracedKind(const std::string& folder);
TextKind casesKind(const std::string& folder);
TextKind capsuleKind(const std::string& folder);
TextKind expectationsKind(const std::string& folder);
TextKind boundsKind(const std::string& folder);
TextKind evidenceKind(const std::string& folder);
TextKind tensorKind(const std::string& folder);
TextKind specKind(const std::string& folder);
TextKind operatorRecordKind(const std::string& folder);
TextKind rowRecordKind(const std::string& folder);
TextKind kernelRecordKind(const std::string& folder);

}  // namespace opkit::fuzz
