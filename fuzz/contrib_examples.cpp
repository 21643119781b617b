#include "fuzz/import_examples.h"

namespace opkit::fuzz {
namespace {

#define OPKIT_MS(Type) "com.microsoft::" Type
#define OPKIT_TURNED "@with=cos_cache,sin_cache do_rotary=1"

constexpr Example kContrib[] = {
    {OPKIT_MS("Attention"), 1, kLast, "mask_filter_value", "@with=mask_index"},
    {OPKIT_MS("DynamicQuantizeLSTM"), 1, kLast, "", "~activations=Relu,Tanh,Tanh"},
    {OPKIT_MS("DynamicQuantizeLSTM"), 1, kLast, "activation_alpha", "activations=Affine,Tanh,Tanh"},
    {OPKIT_MS("DynamicQuantizeLSTM"), 1, kLast, "activation_beta", "activations=Affine,Tanh,Tanh"},
    {OPKIT_MS("EmbedLayerNormalization"), 1, kLast, "segment_ids", "@with=segment_embedding"},
    {OPKIT_MS("EmbedLayerNormalization"), 1, kLast, "segment_embedding", "@with=segment_ids"},
    {OPKIT_MS("EmbedLayerNormalization"), 1, kLast, "mask", "@outputs=2"},
    {OPKIT_MS("FusedConv"), 1, kLast, "", "~activation=Relu|Tanh"},
    {OPKIT_MS("FusedConv"), 1, kLast, "activation_params",
     "activation=LeakyRelu activation_params=0.25 ~activation_params=0.5"},
    {OPKIT_MS("FusedGemm"), 1, kLast, "", "~activation=Relu|Tanh"},
    {OPKIT_MS("FusedGemm"), 1, kLast, "activation_alpha", "activation=LeakyRelu activation_alpha=0.25"},
    {OPKIT_MS("FusedGemm"), 1, kLast, "activation_beta",
     "activation=HardSigmoid activation_alpha=0.25 activation_beta=0.5 ~activation_beta=0.25"},
    {OPKIT_MS("FusedGemm"), 1, kLast, "activation_gamma", "activation=Selu activation_alpha=1.5 activation_gamma=1"},
    {OPKIT_MS("GatherBlockQuantized"), 1, kLast, "",
     "@constant=0:64 @constant=2:4 bits=8 block_size=16 gather_axis=0 quantize_axis=0 ~bits=3 ~block_size=15 "
     "~gather_axis=5 ~quantize_axis=5"},
    {OPKIT_MS("GatherBlockQuantized"), 1, kLast, "zero_points", "@constant=3:4"},
    {OPKIT_MS("GroupQueryAttention"), 1, kLast, "", "@with=key,value ~smooth_softmax=1"},
    {OPKIT_MS("GroupQueryAttention"), 1, kLast, "do_rotary", "@with=key,value,cos_cache,sin_cache"},
    {OPKIT_MS("GroupQueryAttention"), 1, kLast, "rotary_interleaved", OPKIT_TURNED},
    {OPKIT_MS("GroupQueryAttention"), 1, kLast, "cos_cache", OPKIT_TURNED},
    {OPKIT_MS("GroupQueryAttention"), 1, kLast, "sin_cache", OPKIT_TURNED},
    {OPKIT_MS("GroupQueryAttention"), 1, kLast, "position_ids", OPKIT_TURNED},
    {OPKIT_MS("GroupQueryAttention"), 1, kLast, "past_key", "@with=past_value"},
    {OPKIT_MS("GroupQueryAttention"), 1, kLast, "past_value", "@with=past_key"},
    {OPKIT_MS("MatMulNBits"), 1, kLast, "", "K=16 block_size=16 @constant=1:8 @constant=2:1 ~K=15 ~N=0 ~bits=3"},
    {OPKIT_MS("MatMulNBits"), 1, kLast, "zero_points", "@constant=3:1"},
    {OPKIT_MS("MultiHeadAttention"), 1, kLast, "mask_filter_value", "@with=key_padding_mask"},
    {OPKIT_MS("MultiHeadAttention"), 1, kLast, "value", "@with=key"},
    {OPKIT_MS("NhwcConv"), 1, kLast, "", "kernel_shape=2,2 ~kernel_shape=3,3"},
    {OPKIT_MS("NhwcFusedConv"), 1, kLast, "", "kernel_shape=2,2 ~kernel_shape=3,3 ~activation=Relu|Tanh"},
    {OPKIT_MS("NhwcFusedConv"), 1, kLast, "activation_params",
     "activation=LeakyRelu activation_params=0.25 ~activation_params=0.5"},
    {OPKIT_MS("NhwcMaxPool"), 1, kLast, "", "~kernel_shape=3,3"},
    {OPKIT_MS("QAttention"), 1, kLast, "mask_filter_value", "@with=mask_index"},
    {OPKIT_MS("QLinearConcat"), 1, kLast, "", "@inputs=5"},
    {OPKIT_MS("QLinearSoftmax"), 1, kLast, "", "~opset=13"},
    {OPKIT_MS("RotaryEmbedding"), 1, kLast, "num_heads", "num_heads=1 ~num_heads=2|3"},
    {OPKIT_MS("RotaryEmbedding"), 1, kLast, "rotary_embedding_dim", "num_heads=1"},
};
#undef OPKIT_MS
#undef OPKIT_TURNED

}  // namespace

std::span<const Example> contribExamples() { return kContrib; }

}  // namespace opkit::fuzz
