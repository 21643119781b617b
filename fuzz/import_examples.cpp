#include "fuzz/import_examples.h"

namespace opkit::fuzz {
namespace {

using namespace harness;

/// A tree whose root has two leaves, as the older tree ensembles name nodes.
#define OPKIT_NODES                                                                                       \
  "nodes_treeids=0,0,0 nodes_nodeids=0,1,2 nodes_featureids=0,0,0 nodes_values=0.5,0,0 "                  \
  "nodes_modes=BRANCH_LEQ,LEAF,LEAF nodes_truenodeids=1,0,0 nodes_falsenodeids=2,0,0 "                    \
  "~nodes_nodeids=0,2,1 ~nodes_featureids=1,0,0 ~nodes_values=0.25,0,0 ~nodes_modes=BRANCH_LT,LEAF,LEAF " \
  "~nodes_truenodeids=2,0,0 ~nodes_falsenodeids=1,0,0 ~nodes_missing_value_tracks_true=1,0,0 "            \
  "~nodes_hitrates=1,1,1 ~nodes_hitrates_as_tensor=float:1,1,1 ~nodes_values_as_tensor=float:0.25,0,0 "   \
  "~nodes_treeids=0,0 "
#define OPKIT_TWO_LEAVES                                                                             \
  "nodes_treeids=0,1 nodes_nodeids=0,1 nodes_featureids=0,0 nodes_values=0,0 nodes_modes=LEAF,LEAF " \
  "nodes_truenodeids=0,0 nodes_falsenodeids=0,0 "

constexpr Example kExamples[] = {
    {"Cast", 1, 5, "", "to=FLOAT ~to=INT64|BOOL"},
    {"Constant", 1, 11, "", "value=float:1"},
    {"Constant", 12, kLast, "", "value_int=1"},
    {"Constant", 12, kLast, "value", "value_int=- value=float:1"},
    {"Constant", 12, kLast, "value_float", "value_int=- value_float=1"},
    {"Constant", 12, kLast, "value_floats", "value_int=- value_floats=1"},
    {"Constant", 12, kLast, "value_ints", "value_int=- value_ints=1"},
    {"Constant", 12, kLast, "value_string", "value_int=- value_string=a"},
    {"Constant", 12, kLast, "value_strings", "value_int=- value_strings=a"},
    {"Constant", 11, kLast, "sparse_value", "value=- value_int=- sparse_value=float:1 ~sparse_value=float:2"},
    {"Dropout", 12, kLast, "seed", "@inputs=3"},
    {"Dropout", 12, kLast, "ratio", "@inputs=3"},
    {"If", 1, kLast, "", "then_branch=1:0:0 else_branch=2:0:0"},
    {"Loop", 1, kLast, "", "body=Identity:3:1"},
    {"RNN", 1, kLast, "", "~activations=Relu"},
    {"GRU", 1, kLast, "", "~activations=Relu,Tanh"},
    {"LSTM", 1, kLast, "", "~activations=Relu,Tanh,Tanh"},
    {"RNN", 1, kLast, "activation_alpha", "activations=Affine"},
    {"RNN", 1, kLast, "activation_beta", "activations=Affine"},
    {"GRU", 1, kLast, "activation_alpha", "activations=Affine,Tanh"},
    {"GRU", 1, kLast, "activation_beta", "activations=Affine,Tanh"},
    {"LSTM", 1, kLast, "activation_alpha", "activations=Affine,Tanh,Tanh"},
    {"LSTM", 1, kLast, "activation_beta", "activations=Affine,Tanh,Tanh"},
    {"Split", 1, kLast, "", "@outputs=2"},
    {"Split", 18, kLast, "num_outputs", "num_outputs=2"},
    {"TfIdfVectorizer", 1, kLast, "", "pool_int64s=1 ~pool_strings=c"},
    {"TfIdfVectorizer", 1, kLast, "pool_strings", "pool_int64s=- pool_strings=a"},
    {"TfIdfVectorizer", 1, kLast, "weights", "mode=IDF"},
    {"Adagrad", 1, kLast, "", "@inputs=5"},
    {"Adam", 1, kLast, "", "@inputs=6"},
    {"Momentum", 1, kLast, "", "@inputs=5"},
    {"FeatureVectorizer", 1, kLast, "", "inputdimensions=2 ~inputdimensions=3"},
    {"Imputer", 1, kLast, "", "imputed_value_floats=1"},
    {"Imputer", 1, kLast, "imputed_value_int64s", "imputed_value_floats=- imputed_value_int64s=1"},
    {"Imputer", 1, kLast, "replaced_value_int64", "imputed_value_floats=- imputed_value_int64s=1"},
    {"LabelEncoder", 1, 1, "", "classes_strings=a,b ~classes_strings=c,d"},
    {"CategoryMapper", 1, kLast, "", "cats_int64s=1,2 cats_strings=a,b ~cats_int64s=5,6 ~cats_strings=c,d"},
    {"ZipMap", 1, kLast, "", "classlabels_int64s=1,2 ~classlabels_int64s=5,6 ~classlabels_strings=c,d"},
    {"ZipMap", 1, kLast, "classlabels_strings", "classlabels_int64s=- classlabels_strings=a,b"},
    {"LabelEncoder", 2, kLast, "",
     "keys_int64s=1,2 values_int64s=3,4 ~keys_floats=3,4 ~values_floats=3,4 ~keys_int64s=5,6 ~values_int64s=5,6 "
     "~default_tensor=int64:9 "
     "~keys_tensor=int64:3,4 ~values_tensor=int64:7,8 ~keys_strings=c,d ~values_strings=c,d"},
    {"LabelEncoder", 2, kLast, "default_float", "values_int64s=- values_floats=1,2"},
    {"LabelEncoder", 2, kLast, "default_string", "values_int64s=- values_strings=a,b"},
    {"LabelEncoder", 2, kLast, "keys_floats", "keys_int64s=- keys_floats=1,2"},
    {"LabelEncoder", 2, kLast, "keys_strings", "keys_int64s=- keys_strings=a,b"},
    {"LabelEncoder", 2, kLast, "keys_tensor", "keys_int64s=- keys_tensor=int64:1,2"},
    {"LabelEncoder", 2, kLast, "values_floats", "values_int64s=- values_floats=1,2"},
    {"LabelEncoder", 2, kLast, "values_strings", "values_int64s=- values_strings=a,b"},
    {"LabelEncoder", 2, kLast, "values_tensor", "values_int64s=- values_tensor=int64:1,2"},
    {"LinearClassifier", 1, kLast, "",
     "classlabels_ints=0,1 coefficients=1,2,3,4 ~coefficients=4,3,2,1 ~intercepts=1,2 ~classlabels_ints=5,6 "
     "~classlabels_strings=c,d"},
    {"LinearClassifier", 1, kLast, "classlabels_strings", "classlabels_ints=- classlabels_strings=a,b"},
    {"LinearRegressor", 1, kLast, "", "coefficients=1,2 ~coefficients=2,1 ~intercepts=1 ~targets=2"},
    {"OneHotEncoder", 1, kLast, "", "cats_int64s=1,2 ~cats_strings=c,d"},
    {"OneHotEncoder", 1, kLast, "cats_strings", "cats_int64s=- cats_strings=a,b"},
    {"SVMClassifier", 1, kLast, "",
     "classlabels_ints=0,1 vectors_per_class=1,1 support_vectors=1,2,3,4 coefficients=1,-1 rho=0.5 kernel_params=1,0,3 "
     "~classlabels_ints=5,6 ~vectors_per_class=2,0,0 ~support_vectors=4,3,2,1 ~coefficients=2,1 ~rho=1 "
     "~kernel_params=2,0,3 ~prob_a=2 ~prob_b=2 ~classlabels_strings=c,d"},
    {"SVMClassifier", 1, kLast, "post_transform",
     "classlabels_ints=0,1,2 vectors_per_class=1,1,0 coefficients=1,-1,2,-2 rho=1,2,3"},
    {"SVMClassifier", 1, kLast, "classlabels_strings", "classlabels_ints=- classlabels_strings=a,b"},
    {"SVMClassifier", 1, kLast, "kernel_params", "kernel_type=RBF"},
    {"SVMClassifier", 1, kLast, "vectors_per_class",
     "classlabels_ints=0,1,2 vectors_per_class=1,1,0 coefficients=1,-1,2,-2 rho=1,2,3"},
    {"SVMClassifier", 1, kLast, "prob_a", "prob_a=1 prob_b=1"},
    {"SVMClassifier", 1, kLast, "prob_b", "prob_a=1 prob_b=1"},
    {"SVMRegressor", 1, kLast, "",
     "n_supports=2 support_vectors=1,2,3,4 coefficients=1,-1 rho=0.5 kernel_params=1,0,3 ~support_vectors=4,3,2,1 "
     "~coefficients=2,1 ~rho=1 ~kernel_params=2,0,3 ~n_supports=0"},
    {"SVMRegressor", 1, kLast, "kernel_params", "kernel_type=RBF"},
    {"TreeEnsembleClassifier", 1, 4, "",
     OPKIT_NODES "class_treeids=0,0 class_nodeids=1,2 class_ids=0,1 class_weights=1,2 classlabels_int64s=3,4 "
                 "~class_treeids=1 ~class_nodeids=2,1 ~class_ids=1,0 ~class_weights=2,3 ~classlabels_int64s=5,6 "
                 "~base_values=1,2 ~base_values_as_tensor=float:1,2 ~class_weights_as_tensor=float:2,3 "
                 "~classlabels_strings=c,d"},
    {"TreeEnsembleClassifier", 1, 4, "classlabels_strings", "classlabels_int64s=- classlabels_strings=a,b"},
    {"TreeEnsembleClassifier", 1, 4, "nodes_treeids",
     OPKIT_TWO_LEAVES "class_treeids=0 class_nodeids=0 class_ids=0 class_weights=1"},
    {"TreeEnsembleClassifier", 1, 4, "class_treeids",
     OPKIT_TWO_LEAVES "nodes_nodeids=0,0 class_treeids=0 class_nodeids=0 class_ids=0 class_weights=1"},
    {"TreeEnsembleClassifier", 1, 4, "nodes_values_as_tensor", "nodes_values=- nodes_values_as_tensor=float:0.5,0,0"},
    {"TreeEnsembleClassifier", 1, 4, "class_weights_as_tensor", "class_weights=- class_weights_as_tensor=float:1,2"},
    {"TreeEnsembleRegressor", 1, 4, "",
     OPKIT_NODES "target_treeids=0,0 target_nodeids=1,2 target_ids=0,0 target_weights=1,2 n_targets=1 "
                 "~target_treeids=1 ~target_nodeids=2,1 ~target_ids=0,1 ~target_weights=2,3 ~n_targets=2|1099511627781 "
                 "~aggregate_function=SUM|AVERAGE|MIN|MAX ~base_values=1 ~base_values_as_tensor=float:1 "
                 "~target_weights_as_tensor=float:2,3"},
    {"TreeEnsembleRegressor", 1, 4, "nodes_treeids",
     OPKIT_TWO_LEAVES "target_treeids=0 target_nodeids=0 target_ids=0 target_weights=1"},
    {"TreeEnsembleRegressor", 1, 4, "target_treeids",
     OPKIT_TWO_LEAVES "nodes_nodeids=0,0 target_treeids=0 target_nodeids=0 target_ids=0 target_weights=1"},
    {"TreeEnsembleRegressor", 1, 4, "target_ids", "n_targets=2"},
    {"TreeEnsembleRegressor", 1, 4, "nodes_values_as_tensor", "nodes_values=- nodes_values_as_tensor=float:0.5,0,0"},
    {"TreeEnsembleRegressor", 1, 4, "target_weights_as_tensor", "target_weights=- target_weights_as_tensor=float:1,2"},
    {"TreeEnsemble", 5, kLast, "",
     "n_targets=1 tree_roots=0 nodes_modes=uint8:0,0 nodes_splits=float:0.5,0.75 nodes_featureids=0,1 "
     "nodes_truenodeids=0,1 nodes_trueleafs=1,1 nodes_falsenodeids=1,0 nodes_falseleafs=0,1 leaf_targetids=0,0 "
     "leaf_weights=float:1,2 ~nodes_modes=uint8:1,0 ~nodes_splits=float:0.25,0.75 ~nodes_featureids=1,1 "
     "~nodes_truenodeids=1,1 ~nodes_trueleafs=0,1 ~nodes_falsenodeids=1,1 ~nodes_falseleafs=1,1 ~leaf_targetids=0,1 "
     "~n_targets=2|1099511627781 ~leaf_weights=float:2,3 ~tree_roots=1 ~nodes_missing_value_tracks_true=1,0 "
     "~membership_values=float:3,4 "
     "~nodes_hitrates=float:1,1"},
    {"TreeEnsemble", 5, kLast, "leaf_targetids", "n_targets=2"},
    {"TreeEnsemble", 5, kLast, "nodes_trueleafs", "nodes_truenodeids=1,1"},
    {"TreeEnsemble", 5, kLast, "membership_values", "nodes_modes=uint8:6,0 membership_values=float:1,2"},
#define OPKIT_BROADCAST(Type) \
  {Type, 1, 6, "axis", "broadcast=1 axis=1"}, { Type, 1, 6, "broadcast", "axis=1" }
    OPKIT_BROADCAST("Add"),
    OPKIT_BROADCAST("Sub"),
    OPKIT_BROADCAST("Mul"),
    OPKIT_BROADCAST("Div"),
    OPKIT_BROADCAST("Pow"),
    OPKIT_BROADCAST("Equal"),
    OPKIT_BROADCAST("Greater"),
    OPKIT_BROADCAST("Less"),
    OPKIT_BROADCAST("And"),
    OPKIT_BROADCAST("Or"),
    OPKIT_BROADCAST("Xor"),
};
#undef OPKIT_BROADCAST
#undef OPKIT_TWO_LEAVES
#undef OPKIT_NODES

/// Of attributes that any operator requires.
constexpr Example kCommon[] = {
    {"*", 1, kLast, "",
     "kernel_shape=2,2 to=1 blocksize=2 shape=2,3 pooled_shape=2,2 axes=0 starts=0 ends=1 pads=1,1 paddings=1,1 "
     "scales=1,2 equation=ij,jk->ik num_groups=2 size=3"},
};

/// Those of an operator.
std::vector<Example> examplesOf(const OperatorFact& fact) {
  std::vector<Example> examples;
  for (const std::span<const Example> list : {std::span<const Example>(kExamples), contribExamples()})
    std::ranges::copy_if(list, std::back_inserter(examples),
                         [&](const Example& example) { return fact.listName() == example.type; });
  return examples;
}

bool holds(const Example& example, int opset, const std::string& tested) {
  return example.first <= opset && opset <= example.last && (*example.tested == '\0' || tested == example.tested);
}

/// The value in a list of name=value.
std::optional<std::string> valueIn(const char* values, const std::string& name) {
  for (const std::string& part : splitAt(' ', values))
    if (part.starts_with(name + "=")) return part.substr(name.size() + 1);
  return std::nullopt;
}

std::string requiredValue(const AttributeFact& attribute) {
  for (const Example& example : kCommon)
    if (const auto value = valueIn(example.values, attribute.name)) return *value;
  if (!attribute.words.empty()) return attribute.words[0];
  if (attribute.type == "string" || attribute.type == "strings") return "a";
  if (attribute.type == "tensor" || attribute.type == "sparse") return "float:1";
  if (attribute.type == "type") return "float";
  return attribute.type == "graph" ? "Identity:1:0" : "1";
}

void apply(const Example& example, const OperatorFact& fact, DrawnNode& node, size_t& present, std::string& with) {
  for (const std::string& part : splitAt(' ', example.values)) {
    const size_t equals = part.find('=');
    const std::string name = part.substr(0, equals), value = part.substr(equals + 1);
    if (name == "@inputs") present = static_cast<size_t>(std::stoi(value));
    if (name == "@with") with = value;
    if (name == "@outputs") node.outputs = static_cast<size_t>(std::stoi(value));
    if (name == "@constant") node.constants[std::stoul(value)] = std::stoul(value.substr(value.find(':') + 1));
    if (value == "-")
      node.attributes.erase(name);
    else if (fact.find(name))
      node.attributes[name] = value;
  }
}

}  // namespace

DrawnNode exampleOf(const OperatorFact& fact, int opset, const std::string& tested) {
  DrawnNode node{.domain = fact.domain, .type = fact.type, .opset = opset, .outputs = fact.fewestOutputs()};
  for (const AttributeFact& attribute : fact.attributes) {
    node.attributeTypes[attribute.name] = attribute.type;
    if (attribute.isRequired) node.attributes[attribute.name] = requiredValue(attribute);
  }
  size_t present = 0;
  for (size_t i = 0; i < fact.inputs.size(); ++i)
    if (!fact.inputs[i].isOptional) present = i + 1;
  const size_t needed = present;
  std::string with;
  for (const Example& example : examplesOf(fact))
    if (holds(example, opset, tested)) apply(example, fact, node, present, with);
  for (size_t i = 0; i < present; ++i) {
    const PortFact& input = fact.inputs[std::min(i, fact.inputs.size() - 1)];
    node.inputs.push_back(input.isOptional && i < needed ? "" : input.type());
  }
  for (size_t i = 0; i < fact.inputs.size(); ++i) {
    const std::vector<std::string> names = splitAt(',', with);
    if (std::ranges::find(names, fact.inputs[i].name) == names.end()) continue;
    node.inputs.resize(std::max(node.inputs.size(), i + 1));
    node.inputs[i] = fact.inputs[i].type();
  }
  return node;
}

std::vector<std::string> otherValues(const OperatorFact& fact, const AttributeFact& attribute,
                                     const std::string& value) {
  std::vector<std::string> others = attribute.words;
  for (const Example& example : examplesOf(fact))
    if (others.empty() && fact.since >= example.first && fact.since <= example.last)
      others = splitAt('|', valueIn(example.values, "~" + attribute.name).value_or(""));
  if (others.empty() && attribute.type == "int") {
    const int64_t number = value.empty() ? 0 : std::stoll(value);
    others = {
        fmt::format("{}", number + 1), fmt::format("{}", number - 1), "0", "1", "2", "3", "9", "10", "1099511627781"};
  } else if (others.empty() && attribute.type == "float") {
    others = {"0.375", "-1.5"};
  } else if (others.empty() && attribute.type == "string") {
    others = {"ab"};
  } else if (others.empty() && attribute.type == "ints") {
    others = {"1", "0", "1,1", "0,1", "2,2", "1,1,1,1", "0,2,3"};
  } else if (others.empty() && attribute.type == "floats") {
    others = {"0.5", "0.5,0.25"};
  } else if (others.empty() && attribute.type == "strings") {
    others = {"a", "a,b"};
  } else if (others.empty() && attribute.type == "graph") {
    const bool isNumber = !value.empty() && std::isdigit(static_cast<unsigned char>(value[0]));
    others = {(isNumber ? "7" : "Neg") + (value.empty() ? ":1:0" : value.substr(value.find(':')))};
  } else if (others.empty() && attribute.type == "type") {
    others = {"int64"};
  } else if (others.empty()) {
    others = {"float:2", "int64:2", "float:2,3", "string:b"};
  }
  std::erase(others, value);
  return others;
}

}  // namespace opkit::fuzz
