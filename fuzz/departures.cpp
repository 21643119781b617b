#include "fuzz/departures.h"

#include <cstring>
#include <set>

#include "engine/base/status.h"

namespace opkit::fuzz {
namespace {

std::set<const Departure*> used;

constexpr Departure kWithoutEffect[] = {
    {"*", "consumed_inputs", "a hint about memory"},
    {"*", "output_sequence", "the outputs of the node say it"},
    {"*", "softmax_precision", "computed in f32 or better"},
    {"*", "nodes_hitrates", "figures about speed"},
    {"*", "nodes_hitrates_as_tensor", "figures about speed"},
    {"CategoryMapper", "default_int64", "the example maps integers to strings"},
    {"Dropout", "ratio", "inference keeps everything; kept until opset 11"},
    {"Gemm", "broadcast", "C may always be smaller than the result"},
    {"LabelEncoder", "default_string", "the example of the first version maps strings to integers"},
    {"LinearAttention", "chunk_size", "a hint about speed"},
    {"LinearClassifier", "multi_class", "both kinds have the same scores"},
    {"Optional", "type", "an absent value has no type"},
    {"SequenceEmpty", "dtype", "an empty sequence has no element type"},
    {"StringNormalizer", "locale", "letters change by Unicode's tables"},
    {"TopK", "sorted", "results are always sorted"},
    {"com.microsoft::BiasSoftmax", "is_inner_broadcast", "the shape of the bias says it"},
    {"com.microsoft::EmbedLayerNormalization", "mask_index_type", "the outputs of the node say it"},
    {"com.microsoft::GroupQueryAttention", "kv_cache_bit_width", "quantised caches are refused"},
    {"com.microsoft::GroupQueryAttention", "qk_norm_epsilon", "norms of queries and keys are refused"},
    {"com.microsoft::MatMulNBits", "K", "the last extent of A says it"},
    {"com.microsoft::RotaryEmbedding", "is_packed_batching", "positions say the same"},
    {"com.microsoft::TorchEmbedding", "padding_idx", "for gradients"},
    {"com.microsoft::TorchEmbedding", "scale_grad_by_freq", "for gradients"},
    {"com.microsoft::RotaryEmbedding", "scale", "ONNX Runtime does not read it"},
    {"com.microsoft::MatMulNBits", "accuracy_level", "computed in f32"},
    {"ZipMap", "classlabels_int64s", "names of columns"},
    {"ZipMap", "classlabels_strings", "names of columns"},
};
constexpr Departure kRefused[] = {
    {"*", "stash_type", "statistics are f32"},
    {"Split", "num_outputs", "the outputs of the node say it"},
    {"Gradient", "*", "OpKit does not differentiate"},
};
constexpr Departure kWithoutRule[] = {
    {"CastMap", "none", "no tensor holds a map"},
    {"DictVectorizer", "none", "no tensor holds a map"},
    {"Upsample", "1", "two attributes hold the scales"},
    {"com.microsoft::SimplifiedLayerNormalization", "none", "ONNX Runtime has it in the default domain"},
};
constexpr Departure kOtherBytes[] = {
    {"RNN", "activations", "the parameters list one function, or none for ONNX's"},
};
constexpr Departure kConverted[] = {
    {"*", "seed", "its bits"},
    {"Constant", "sparse_value", "zeros are written out"},
    {"GridSample", "mode", "Cubic is bicubic"},
    {"com.microsoft::GridSample", "mode", "Cubic is bicubic"},
    {"RoiAlign", "coordinate_transformation_mode", "a flag"},
    {"RoiAlign", "mode", "Maximum is max"},
    {"FeatureVectorizer", "inputdimensions", "a shape"},
    {"LinearRegressor", "targets", "a shape"},
    {"SVMClassifier", "prob_a", "negated"},
    {"TfIdfVectorizer", "weights", "ones fill the list"},
    {"Cast", "to", "the name of a type"},
    {"*", "qk_matmul_output_mode", "names of a number"},
    {"TreeEnsemble", "aggregate_function", "names of a number"},
    {"*", "ignore_index", "a flag says that it is given"},
    {"*", "activation_alpha", "defaults fill the list"},
    {"*", "activation_beta", "defaults fill the list"},
    {"Attention", "is_causal", "a window"},
    {"CausalConvWithState", "activation", "a flag"},
    {"DepthToSpace", "mode", "the words behind the letters"},
    {"Momentum", "mode", "a flag"},
    {"com.microsoft::DynamicQuantizeLSTM", "direction", "also a count of directions"},
    {"com.microsoft::GroupQueryAttention", "causal", "a window"},
    {"com.microsoft::GroupQueryAttention", "local_window_size", "without the token itself"},
    {"*", "unidirectional", "a window"},
};
constexpr Departure kSameModel[] = {
    {"Concat", "4", "the axis must be given"},
    {"Dropout", "12", "the ratio becomes an input, the attribute training_mode goes"},
    {"Range", "27", "the attribute stash_type is new"},
    {"ReduceL1", "18", "the axes become an input"},
    {"ReduceL2", "18", "the axes become an input"},
    {"ReduceLogSum", "18", "the axes become an input"},
    {"ReduceLogSumExp", "18", "the axes become an input"},
    {"ReduceMax", "18", "the axes become an input"},
    {"ReduceMean", "18", "the axes become an input"},
    {"ReduceMin", "18", "the axes become an input"},
    {"ReduceProd", "18", "the axes become an input"},
    {"ReduceSumSquare", "18", "the axes become an input"},
    {"ReduceSum", "13", "the axes become an input"},
    {"Split", "13", "the sizes become an input"},
    {"Squeeze", "13", "the axes become an input"},
};

constexpr Departure kSynonyms[] = {
    {"CausalConvWithState", "swish", "silu"},
};
constexpr Departure kElsewhere[] = {
    {"BitCast", "to", "a bool is made of its byte by a Cast"},
    {"*", "post_transform", "nodes behind"},
    {"BatchNormalization", "is_test", "outputs that training has"},
    {"BatchNormalization", "spatial", "nodes around"},
    {"BatchNormalization", "training_mode", "another operator"},
    {"BitShift", "direction", "an operator for each"},
    {"Compress", "axis", "a node flattens without it"},
    {"Dropout", "is_test", "outputs that training has"},
    {"FlexAttention", "prob_mod", "a subgraph"},
    {"FlexAttention", "score_mod", "a subgraph"},
    {"Gelu", "approximate", "an operator for each"},
    {"If", "else_branch", "a subgraph"},
    {"If", "then_branch", "a subgraph"},
    {"Loop", "body", "a subgraph"},
    {"Mod", "fmod", "an operator for each"},
    {"Scan", "body", "a subgraph"},
    {"SequenceMap", "body", "a subgraph"},
    // of com.microsoft, which become several nodes
    {"*", "activation", "a node behind"},
    {"*", "channels_last", "nodes around"},
    {"*", "transA", "another operator"},
    {"*", "transB", "another operator"},
    {"com.microsoft::FusedMatMul", "transBatchA", "a node in front"},
    {"com.microsoft::FusedMatMul", "transBatchB", "a node in front"},
    {"com.microsoft::GroupQueryAttention", "smooth_softmax", "a constant of sinks"},
    {"com.microsoft::QGemm", "alpha", "a constant multiplies the scales"},
    {"com.microsoft::QLinearSoftmax", "opset", "versions below 13 flatten"},
    {"com.microsoft::FusedMatMul", "alpha", "a node multiplies"},
    {"com.microsoft::UnfoldTensor", "dim", "the axes of nodes around"},
    {"com.microsoft::UnfoldTensor", "size", "shapes of the nodes"},
    {"com.microsoft::UnfoldTensor", "step", "shapes of the nodes"},
    {"com.microsoft::TransposeMatMul", "alpha", "a node multiplies"},
    {"com.microsoft::GroupQueryAttention", "do_rotary", "nodes in front"},
    {"com.microsoft::GroupQueryAttention", "kv_num_heads", "also shapes of keys and values"},
    // of ai.onnx.ml, which become several nodes
    {"CategoryMapper", "cats_strings", "numbers in a dictionary"},
    {"CategoryMapper", "default_string", "a number in a dictionary"},
    {"LabelEncoder", "default_int64", "an element of a table"},
    {"LabelEncoder", "default_string", "a number in a dictionary"},
    {"LabelEncoder", "values_strings", "numbers in a dictionary"},
    {"Normalizer", "norm", "an operator for each"},
    {"OneHotEncoder", "zeros", "nodes that refuse"},
    {"Scaler", "offset", "a node subtracts"},
    {"Scaler", "scale", "a node multiplies"},
    {"SVMClassifier", "vectors_per_class", "rows of coefficients"},
    {"*", "kernel_params", "constants of the kernel"},
    {"*", "kernel_type", "nodes of the kernel"},
    {"SVMRegressor", "n_supports", "linear without them"},
    {"SVMRegressor", "one_class", "a node behind"},
    // Tables of branches and of leaves replace the lists of nodes.
    {"TreeEnsemble", "leaf_targetids", "trees"},
    {"TreeEnsemble", "leaf_weights", "trees"},
    {"TreeEnsemble", "membership_values", "trees"},
    {"TreeEnsemble", "tree_roots", "trees"},
    {"TreeEnsemble", "nodes_splits", "trees"},
    {"TreeEnsemble", "nodes_trueleafs", "trees"},
    {"TreeEnsemble", "nodes_falseleafs", "trees"},
    {"*", "nodes_falsenodeids", "trees"},
    {"*", "nodes_featureids", "trees"},
    {"*", "nodes_missing_value_tracks_true", "trees"},
    {"*", "nodes_modes", "trees"},
    {"*", "nodes_nodeids", "trees"},
    {"*", "nodes_treeids", "trees"},
    {"*", "nodes_truenodeids", "trees"},
    {"*", "nodes_values", "trees"},
    {"*", "nodes_values_as_tensor", "trees"},
    {"*", "class_nodeids", "trees"},
    {"*", "class_treeids", "trees"},
    {"*", "target_nodeids", "trees"},
    {"*", "target_treeids", "trees"},
    {"*", "base_values", "a node adds"},
    {"*", "base_values_as_tensor", "a node adds"},
};
constexpr Departure kFields[] = {
    // of one operator before those of any
    {"RoiAlign", "coordinate_transformation_mode", "half_pixel"},
    {"*", "q_num_heads", "q_heads"},
    {"*", "kv_num_heads", "kv_heads"},
    {"Bernoulli", "dtype", "type"},
    {"Multinomial", "dtype", "type"},
    {"RandomNormal", "dtype", "type"},
    {"RandomNormalLike", "dtype", "type"},
    {"RandomUniform", "dtype", "type"},
    {"RandomUniformLike", "dtype", "type"},
    {"*", "broadcast", "axis"},
    {"Pad", "paddings", "pads"},
    {"TfIdfVectorizer", "ngram_indexes", "indexes"},
    {"TfIdfVectorizer", "pool_int64s", "pool"},
    {"*", "output_datatype", "dtype"},
    {"*", "output_dtype", "output_type"},
    {"*", "seed", "key"},
    {"*", "layout", "batch_first"},
    {"*", "storage_order", "column_major"},
    {"*", "coordinate_transformation_mode", "coordinate_mode"},
    {"*", "keep_aspect_ratio_policy", "aspect_policy"},
    {"*", "rotary_embedding_dim", "rotary_dim"},
    {"Attention", "is_causal", "right"},
    {"Attention", "left_window_size", "left"},
    {"Attention", "right_window_size", "right"},
    {"Attention", "qk_matmul_output_mode", "scores"},
    {"CausalConvWithState", "activation", "swish"},
    {"Clip", "min", "alpha"},
    {"Clip", "max", "beta"},
    {"DepthToSpace", "blocksize", "block"},
    {"DepthToSpace", "mode", "order"},
    {"SpaceToDepth", "blocksize", "block"},
    {"GridSample", "padding_mode", "padding"},
    {"IsInf", "detect_positive", "alpha"},
    {"IsInf", "detect_negative", "beta"},
    {"LinearAttention", "update_rule", "rule"},
    {"Momentum", "mode", "nesterov"},
    {"Scan", "directions", "scan_input_directions"},
    {"Selu", "gamma", "beta"},
    {"Shrink", "bias", "beta"},
    {"Shrink", "lambd", "alpha"},
    {"StringNormalizer", "case_change_action", "case_change"},
    {"StringNormalizer", "is_case_sensitive", "case_sensitive"},
    {"StringSplit", "maxsplit", "max_splits"},
    {"*", "aggregate_function", "aggregate"},
    {"*", "n_targets", "targets"},
    {"*", "ignore_index", "ignore_index|has_ignore_index"},
    {"Multinomial", "sample_size", "samples"},
    {"Constant", "*", "y0"},
    // of com.microsoft
    {"com.microsoft::FusedGemm", "activation_gamma", "beta"},
    {"*", "activation_params", "alpha"},
    {"com.microsoft::GridSample", "padding_mode", "padding"},
    {"com.microsoft::GroupNorm", "groups", "num_groups"},
    {"com.microsoft::SkipGroupNorm", "groups", "num_groups"},
    {"com.microsoft::FusedGemm", "activation_alpha", "alpha"},
    {"com.microsoft::FusedGemm", "activation_beta", "beta"},
    {"*", "num_heads", "q_heads|kv_heads"},
    {"*", "mask_filter_value", "hidden"},
    {"*", "qkv_hidden_sizes", "list"},
    {"*", "rotary_interleaved", "interleaved"},
    {"*", "unidirectional", "right"},
    {"com.microsoft::DynamicQuantizeLSTM", "direction", "direction|per_direction|per_direction_2"},
    {"com.microsoft::GroupQueryAttention", "causal", "right"},
    {"com.microsoft::GroupQueryAttention", "local_window_size", "left"},
    // of ai.onnx.ml
    {"*", "cats_int64s", "categories"},
    {"*", "class_ids", "targets"},
    {"*", "class_weights", "weights"},
    {"*", "class_weights_as_tensor", "weights"},
    {"*", "classlabels_ints", "labels"},
    {"*", "classlabels_int64s", "labels"},
    {"*", "default_float", "other"},
    {"*", "default_int64", "other"},
    {"*", "default_tensor", "other"},
    {"*", "imputed_value_floats", "imputed"},
    {"*", "imputed_value_int64s", "imputed"},
    {"*", "inputdimensions", "rows"},
    {"*", "keys_floats", "keys"},
    {"*", "keys_int64s", "keys"},
    {"*", "classlabels_strings", "labels"},
    {"CategoryMapper", "cats_int64s", "keys"},
    {"OneHotEncoder", "cats_strings", "dictionary"},
    {"TfIdfVectorizer", "pool_strings", "dictionary"},
    {"LabelEncoder", "keys_strings", "dictionary"},
    {"LabelEncoder", "classes_strings", "dictionary"},
    {"*", "keys_tensor", "keys"},
    {"*", "replaced_value_float", "replaced"},
    {"*", "replaced_value_int64", "replaced"},
    {"*", "support_vectors", "vectors"},
    {"LinearRegressor", "targets", "rows"},
    {"*", "target_ids", "targets"},
    {"*", "target_weights", "weights"},
    {"*", "target_weights_as_tensor", "weights"},
    {"*", "values_floats", "values"},
    {"*", "values_int64s", "values"},
    {"*", "values_tensor", "values"},
};

}  // namespace

std::span<const Departure> withoutEffect() { return kWithoutEffect; }
std::span<const Departure> refused() { return kRefused; }
std::span<const Departure> withoutRule() { return kWithoutRule; }
std::span<const Departure> fields() { return kFields; }
std::span<const Departure> elsewhere() { return kElsewhere; }
std::span<const Departure> otherBytes() { return kOtherBytes; }
std::span<const Departure> converted() { return kConverted; }
std::span<const Departure> synonyms() { return kSynonyms; }
std::span<const Departure> sameModel() { return kSameModel; }

const Departure* find(std::span<const Departure> list, const std::string& type, const std::string& name,
                      const std::function<bool(const Departure&)>& holds) {
  const auto means = [](const char* pattern, const std::string& text) {
    return text == pattern || std::strcmp(pattern, "*") == 0;
  };
  for (const Departure& departure : list)
    if (means(departure.type, type) && means(departure.name, name) && holds(departure))
      return used.insert(&departure), &departure;
  return nullptr;
}

std::string unused() {
  std::string text;
  for (const auto& list : {withoutEffect(), refused(), withoutRule(), otherBytes(), converted(), synonyms(), fields(),
                           elsewhere(), sameModel()})
    for (const Departure& departure : list)
      if (!used.contains(&departure))
        text += fmt::format(" {} {}: {};", departure.type, departure.name, departure.reason);
  return text;
}

}  // namespace opkit::fuzz
