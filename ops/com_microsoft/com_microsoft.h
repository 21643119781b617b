// The import rules of com.microsoft, and what their files share. Values are tensor indices of the model.
#pragma once

#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::com_microsoft {

/// "com.microsoft::" and the type.
std::string qualified(const char* type);

void addProductRules(OnnxRules& rules);
void addNormRules(OnnxRules& rules);
void addTensorRules(OnnxRules& rules);
void addQuantisedRules(OnnxRules& rules);
void addAttentionRules(OnnxRules& rules);
void addGroupQueryRules(OnnxRules& rules);
void addRotaryRules(OnnxRules& rules);
void addEmbeddingRules(OnnxRules& rules);
void addLayoutRules(OnnxRules& rules);
void addBlockRules(OnnxRules& rules);

/// Unsupported if the node has this input; `name` is for the message.
Status requireAbsent(const OnnxNode& node, size_t input, const char* name);
/// An attribute that counts heads. InvalidArgument if it is missing, below 1 or beyond any network.
Result<int64_t> requiredHeads(const OnnxNode& node, const char* name);

/// An attribute that is 0 or 1. InvalidArgument if it has another value.
Result<bool> flagOf(const OnnxNode& node, const char* name, bool fallback = false);

/// Emits the activation of the attribute `activation`, with the parameters in `activation_params`; x itself without
/// one.
Status emitActivation(OnnxNode& node, TensorId x);

/// (x - zero point) * scale, of the inputs x, scale and zero point from `first` on.
TensorId dequantized(OnnxNode& node, size_t first);
/// Emits y in the type of the zero point that is input first + 1; its scale is input `first`. Without a zero point,
/// which is 0 then, the type is that of `like`.
Status emitQuantized(OnnxNode& node, TensorId y, size_t first, TensorId like);

/// A product of integers, as floats, and the scale that it is to be multiplied by.
struct ScaledProduct {
  TensorId product, scale;
};
/// `inputs` are those of MatMulInteger; absent ones are -1.
ScaledProduct scaledProduct(OnnxNode& node, std::vector<TensorId> inputs, TensorId scaleA, TensorId scaleB);

}  // namespace opkit::ops::com_microsoft
