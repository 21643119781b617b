// Products of matrices of integers that wrap. Compiled once per instruction set and chosen at run time.
#pragma once

#include "engine/backend/cpu/vector_ops.h"

namespace opkit::cpu {

/// The product without its clamp, modulo 2^32 or 2^64: signed integers pass as unsigned ones.
void multiplyIntegers(const SmallProduct& product, const uint32_t* a, const uint32_t* b, uint32_t* y);
void multiplyIntegers(const SmallProduct& product, const uint64_t* a, const uint64_t* b, uint64_t* y);

}  // namespace opkit::cpu
