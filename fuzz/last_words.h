// LastWords: what a fuzzer was doing when a signal ended it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace opkit::fuzz {

/// Says which input is tried from now on. If a signal of a crash or of alarm() ends the process before the next call,
/// the handler prints the text and keeps the bytes in a file below `folder`, whose path it prints.
void aboutToTry(const std::string& text, std::span<const uint8_t> bytes, const std::string& folder);

}  // namespace opkit::fuzz
