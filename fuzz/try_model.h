// tryModel: everything a program does with bytes it does not trust, up to a run of what is small enough.
//
// The one entry of the mutation test and of the fuzzers. Refusing is an outcome; crashing, hanging, asking for
// more memory than a small file warrants, and undefined behaviour are what they look for.
#pragma once

#include <cstdint>
#include <span>

namespace opkit::fuzz {

enum class Outcome {
  Refused,   // a Status with a message
  Loaded,    // a valid model whose shapes do not work out, or whose inputs are too large to try
  Planned,   // resized; too much work to run
  Finished,  // ran to the end, or said why not
};

Outcome tryOpk(std::span<const uint8_t> bytes);
Outcome tryOnnx(std::span<const uint8_t> bytes);

}  // namespace opkit::fuzz
