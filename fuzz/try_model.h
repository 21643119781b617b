// tryModel: everything a program does with untrusted bytes, up to a run of models that are small enough.
//
// The one entry of the mutation test and of the fuzzers. A refusal is a valid outcome. They look for crashes, hangs,
// allocations beyond what a small file justifies, and undefined behaviour.
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
