// Operators that draw from random numbers: Bernoulli, Multinomial, TrainingDropout. They are made of RandomUniform and
// operators on its numbers; SampleRows is the part of Multinomial that has kernels.
#pragma once

#include "ops/random/random_parts.h"

namespace opkit::ops::random {

Result<std::vector<TensorDesc>> bernoulliRule(const ShapeArgs& args);
Status decomposeBernoulli(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts);

/// Of Multinomial and SampleRows.
Result<std::vector<TensorDesc>> rowsRule(const ShapeArgs& args);
Status decomposeMultinomial(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts);

Result<std::vector<TensorDesc>> dropoutRule(const ShapeArgs& args);
Status decomposeDropout(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts);

/// Number `i` of a stream, uniform in [0, 1) of 24 bits, as an oracle computes it.
double uniformAt(uint64_t key, uint64_t i);

/// The oracles.
Status bernoulliReference(const OracleArgs& args);
Status multinomialReference(const OracleArgs& args);
Status sampleRowsReference(const OracleArgs& args);
Status dropoutReference(const OracleArgs& args);

}  // namespace opkit::ops::random
