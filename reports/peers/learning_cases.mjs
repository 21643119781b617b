// Cases of contrib.mjs for ai.onnx.ml, in the form of contrib_cases.mjs. The random inputs are the same every time.
const f32 = (dims, scale = 1) => ({type: 'float32', dims, scale});
const reals = (dims, values) => ({type: 'float32', dims, values});
const f64 = (dims, values) => ({type: 'float64', dims, values});
const i64 = (dims, values) => ({type: 'int64', dims, values});
const i32 = (dims, values) => ({type: 'int32', dims, values});
const words = (dims, values) => ({type: 'string', dims, values});
const constant = (input) => ({...input, constant: true});
const float = (value) => ({float: value});
const floats = (...values) => ({floats: values});
const strings = (...values) => ({strings: values});
const tensorOf = (Data, type, ...data) => ({tensor: {type, dims: [data.length], data: Data.from(data)}});
const ml = (name, attributes, inputs, more = {}) => ({name, domain: 'ai.onnx.ml', attributes, inputs, ...more});
const kBoth = {outputs: ['label', 'scores']};

const kPets = words([2, 3], ['cat', 'dog', 'emu', '', 'dog', 'Dog']);
const kEncoders = [
  ml('LabelEncoder of version 1, strings', {classes_strings: strings('dog', 'cat', '')}, [kPets]),
  ml('LabelEncoder of version 1, integers', {classes_strings: strings('dog', 'cat'), default_string: 'none'}, [i64([4], [1, 0, 2, -1])]),
  ml('LabelEncoder of version 1, defaults', {classes_strings: strings('dog', 'cat'), default_int64: -7}, [kPets]),
  ml('LabelEncoder strings to integers', {keys_strings: strings('dog', 'cat'), values_int64s: [5, 6]}, [kPets], {version: 2}),
  ml('LabelEncoder strings to floats', {keys_strings: strings('dog', 'cat'), values_floats: floats(0.5, -6), default_float: float(2)}, [kPets], {version: 2}),
  ml('LabelEncoder strings to strings', {keys_strings: strings('dog', 'cat'), values_strings: strings('Hund', 'Katze')}, [kPets], {version: 2}),
  ml('LabelEncoder integers to strings', {keys_int64s: [3, 1, 2], values_strings: strings('c', 'a', 'b'), default_string: '?'}, [i64([2, 2], [1, 2, 3, 4])], {version: 2}),
  ml('LabelEncoder floats to strings', {keys_floats: floats(1.5, NaN), values_strings: strings('a', 'b')}, [reals([3], [NaN, 1.5, 0])], {version: 4}),
  ml('LabelEncoder of i32', {keys_tensor: tensorOf(Int32Array, 'int32', 2, 1), values_tensor: tensorOf(Int32Array, 'int32', 9, 7), default_tensor: tensorOf(Int32Array, 'int32', 42)}, [i32([3], [1, 2, 3])], {version: 4}),
  ml('CategoryMapper strings', {cats_strings: strings('dog', 'cat'), cats_int64s: [20, 10], default_int64: -5}, [kPets]),
  ml('CategoryMapper integers', {cats_strings: strings('dog', 'cat'), cats_int64s: [20, 10], default_string: 'none'}, [i64([3], [10, 20, 30])]),
  ml('OneHotEncoder of strings', {cats_strings: strings('dog', 'cat', 'emu', 'yak')}, [kPets]),
  ml('OneHotEncoder of strings, all known', {cats_strings: strings('', 'dog', 'Dog', 'cat', 'emu'), zeros: 0}, [kPets]),
  ml('OneHotEncoder of integers', {cats_int64s: [3, 1]}, [i64([4], [1, 2, 3, 1])]),
  ml('OneHotEncoder of floats', {cats_int64s: [3, 1]}, [reals([2, 2], [1, 2, 3, 1])]),
];

const kFeatures = [
  ml('ArrayFeatureExtractor', {}, [f32([3, 4]), i64([2], [3, 0])]),
  ml('ArrayFeatureExtractor of a list', {}, [constant(i64([3], [7, 8, 9])), i64([2, 1], [2, 0])]),
  ml('ArrayFeatureExtractor of strings', {}, [words([2, 3], ['a', 'b', 'c', 'd', 'e', 'f']), i64([1, 2], [2, 1])]),
  ml('ArrayFeatureExtractor of a list of strings', {}, [constant(words([3], ['a', 'b', 'c'])), i64([4], [2, 0, 0, 1])]),
  ml('ArrayFeatureExtractor of three axes', {}, [f32([2, 3, 4]), i64([1], [1])]),
  ml('Scaler', {offset: floats(1, 2, 3), scale: floats(0.5, 2, -1)}, [f32([4, 3], 5)]),
  ml('Scaler of one value', {offset: floats(1), scale: floats(0.5)}, [i64([2, 2], [1, 2, 3, 4])]),
  ml('Imputer of NaN', {imputed_value_floats: floats(1, 2), replaced_value_float: float(NaN)}, [reals([2, 2], [NaN, 5, 6, NaN])]),
  ml('Imputer of integers', {imputed_value_int64s: [7, 8], replaced_value_int64: -1}, [i64([2, 2], [-1, 5, 6, -1])]),
  ml('Normalizer MAX', {norm: 'MAX'}, [reals([3, 3], [1, -4, 2, 0, 0, 0, -1, -2, -3])]),
  ml('Normalizer L1', {norm: 'L1'}, [reals([3, 3], [1, -4, 2, 0, 0, 0, -1, -2, -3])]),
  ml('Normalizer L2', {norm: 'L2'}, [reals([3, 3], [1, -4, 2, 0, 0, 0, -1, -2, -3])]),
  ml('Normalizer L2 of integers', {norm: 'L2'}, [i64([2, 2], [3, 4, 0, 0])]),
  ml('Binarizer', {threshold: float(0.25)}, [f32([3, 5])]),
  ml('FeatureVectorizer', {inputdimensions: [1, 2, 1]}, [f32([3, 1]), f32([3, 2]), f32([3, 1])]),
  ml('FeatureVectorizer of integers', {inputdimensions: [1, 2]}, [i64([2, 1], [1, 2]), i64([2, 2], [3, 4, 5, 6])]),
];

const grams = (mode, more = {}) => ({
  mode, min_gram_length: 1, max_gram_length: 2, max_skip_count: 1, ngram_counts: [0, 3], ngram_indexes: [1, 0, 2, 4, 3],
  pool_strings: strings('the', 'cat', 'sat', 'the', 'cat', 'cat', 'sat'), ...more});
const kText = [
  {name: 'TfIdfVectorizer of strings', domain: '', attributes: grams('TF'), inputs: [words([2, 5], ['the', 'cat', 'sat', 'the', 'dog', 'the', 'the', 'cat', 'cat', 'sat'])]},
  {name: 'TfIdfVectorizer of strings, TFIDF', domain: '', attributes: grams('TFIDF', {weights: floats(1, 0.5, 2, 3, 4)}), inputs: [words([6], ['a', 'the', 'cat', 'b', 'sat', 'the'])]},
  {name: 'TfIdfVectorizer of strings, IDF', domain: '', attributes: grams('IDF', {max_skip_count: 0, weights: floats(1, 0.5, 2, 3, 4)}), inputs: [words([6], ['a', 'the', 'cat', 'b', 'sat', 'the'])]},
  {name: 'StringNormalizer', domain: '', attributes: {case_change_action: 'LOWER', is_case_sensitive: 0, locale: 'C', stopwords: strings('the')}, inputs: [words([4], ['The', 'CAT', 'Sat', 'the'])]},
];

const kWeights = {coefficients: floats(1, 0.5, -1, 0.25, 2, -0.5, -1, -1, 0.75), intercepts: floats(0.5, 0, -0.25)};
const kShared = {coefficients: floats(1, 0.5, -1), intercepts: floats(0.25)};
const kTransforms = ['NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO', 'PROBIT'];
const linear = (name, attributes, input = f32([7, 3], 2)) => ml(`LinearClassifier ${name}`, attributes, [input], kBoth);
const kLinear = [
  ...kTransforms.flatMap((post_transform) => [
    linear(`${post_transform}, three strings`, {...kWeights, post_transform, classlabels_strings: strings('b', 'a', 'c')}),
    linear(`${post_transform}, three integers`, {...kWeights, post_transform, multi_class: 1, classlabels_ints: [7, -1, 3]}),
    ...(post_transform === 'PROBIT' ? [] : [
      linear(`${post_transform}, one row for two strings`, {...kShared, post_transform, classlabels_strings: strings('no', 'yes')}),
      linear(`${post_transform}, one row for two integers`, {...kShared, post_transform, classlabels_ints: [4, 9]})]),
    linear(`${post_transform}, two rows`, {coefficients: floats(-1, -0.5, 1, 1, 0.5, -1), intercepts: floats(-0.25, 0.25), post_transform, classlabels_strings: strings('no', 'yes')}),
  ]),
  linear('of f64', {...kWeights, classlabels_strings: strings('b', 'a', 'c')}, f64([2, 3], [1, 2, 3, -1, 0, 0.5])),
  linear('of i64', {...kWeights, classlabels_strings: strings('b', 'a', 'c')}, i64([2, 3], [1, 2, 3, -1, 0, 5])),
  linear('of a row', {...kWeights, classlabels_strings: strings('b', 'a', 'c')}, f32([1, 3])),
  linear('of ties', {...kWeights, coefficients: floats(...Array(9).fill(0)), intercepts: floats(1, 1, 1), classlabels_strings: strings('b', 'a', 'c')}),
  linear('of a score of zero', {coefficients: floats(1, 0, 0), intercepts: floats(0), classlabels_strings: strings('no', 'yes')}, reals([3, 3], [0, 1, 1, 1, 0, 0, -1, 0, 0])),
  linear('of a score of one half', {coefficients: floats(1, 0, 0), intercepts: floats(0), post_transform: 'LOGISTIC', classlabels_strings: strings('no', 'yes')}, reals([3, 3], [0.5, 1, 1, 0.25, 0, 0, 0.75, 0, 0])),
  ...kTransforms.map((post_transform) => ml(`LinearRegressor ${post_transform}`, {...kWeights, targets: 3, post_transform}, [f32([5, 3])])),
  ...['NONE', 'PROBIT'].map((post_transform) => ml(`LinearRegressor ${post_transform}, one target`, {...kShared, post_transform}, [reals([3, 3], [0.5, 0.2, 0.3, 0.1, 0.1, 0.1, 0, 0, 0.1])])),
];

const machine = (labels, more = {}) => ({
  ...labels, coefficients: floats(1, -0.5, -2, 0.25, 0.5, 1.5, -1, -0.75), rho: floats(0.25, -0.5, 0.125), vectors_per_class: [2, 1, 1],
  support_vectors: floats(1, 0, -1, 2, 0.5, 0.5, 2, -1), kernel_type: 'RBF', kernel_params: floats(0.5, 0.25, 3), ...more});
const pair = (labels, more = {}) => ({
  ...labels, coefficients: floats(1, 0.5, -2, -0.25), rho: floats(0.5), vectors_per_class: [2, 2],
  support_vectors: floats(1, 0, -1, 2, 0.5, 0.5, 2, -1), kernel_type: 'RBF', kernel_params: floats(0.5, 0.25, 3), ...more});
const kThree = {classlabels_strings: strings('x', 'y', 'z')}, kTwo = {classlabels_strings: strings('no', 'yes')};
const svm = (name, attributes, bounds = {atol: 1e-5, rtol: 1e-4}) => ml(`SVMClassifier ${name}`, attributes, [f32([6, 2], 2)], {...kBoth, bounds});
const kRough = {atol: 5e-3, rtol: 1e-3};  // ONNX Runtime iterates
const kSupport = [
  ...['LINEAR', 'POLY', 'RBF', 'SIGMOID'].map((kernel_type) => svm(`${kernel_type}, strings`, machine(kThree, {kernel_type}))),
  svm('integers', machine({classlabels_ints: [5, 6, 7]})),
  svm('two strings', pair(kTwo)),
  svm('two integers', pair({classlabels_ints: [3, 8]})),
  svm('two strings, probabilities', pair(kTwo, {prob_a: floats(-1.5), prob_b: floats(0.25)}), kRough),
  svm('three strings, probabilities', machine(kThree, {prob_a: floats(-1.5, -0.5, -2), prob_b: floats(0.25, 0, -0.125)}), kRough),
  ...kTransforms.slice(1).flatMap((post_transform) => [
    svm(`${post_transform}, three`, machine(kThree, {post_transform})),
    ...(post_transform === 'PROBIT' ? [] : [svm(`${post_transform}, two`, pair(kTwo, {post_transform}))]),
    svm(`${post_transform}, two, probabilities`, pair(kTwo, {post_transform, prob_a: floats(-1.5), prob_b: floats(0.25)}), kRough),
  ]),
  svm('linear, strings', {...kThree, coefficients: floats(1, 0.5, -1, 1, 0.25, 2), rho: floats(0.25), kernel_type: 'LINEAR', kernel_params: floats(0, 0, 0)}),
];

// Trees of one test each, feature `tree % 3` against 0.
const stumps = (votes, more) => {
  const trees = votes.length / 2, each = Array.from({length: 3 * trees}, (_, i) => [Math.floor(i / 3), i % 3]);
  const cast = votes.flatMap((list, leaf) => list.map(([id, weight]) => [Math.floor(leaf / 2), 1 + leaf % 2, id, weight]));
  return {
    nodes_treeids: each.map(([tree]) => tree), nodes_nodeids: each.map(([, id]) => id),
    nodes_featureids: each.map(([tree, id]) => id === 0 ? tree % 3 : 0), nodes_modes: strings(...each.map(([, id]) => id === 0 ? 'BRANCH_LEQ' : 'LEAF')),
    nodes_values: floats(...each.map(() => 0)), nodes_hitrates: floats(...each.map(() => 1)),
    nodes_truenodeids: each.map(([, id]) => id === 0 ? 1 : 0), nodes_falsenodeids: each.map(([, id]) => id === 0 ? 2 : 0),
    nodes_missing_value_tracks_true: each.map(() => 0),
    class_treeids: cast.map(([tree]) => tree), class_nodeids: cast.map(([, id]) => id), class_ids: cast.map(([, , id]) => id),
    class_weights: floats(...cast.map(([, , , weight]) => weight)), ...more};
};
const kForest = [[[0, 0.25], [1, 0.75]], [[2, 1]], [[1, 0.5], [2, 0.5]], [[0, 1]], [[0, 0.125], [1, 0.5], [2, 0.375]], [[1, 1]]];
const kShares = [[[0, 0.125]], [[0, 0.625]], [[0, 0.0625]], [[0, 0.25]]];
const kSecond = [[[1, 0.125]], [[1, 0.625]], [[1, 0.0625]], [[1, 0.25]]];
const kMargins = [[[0, -0.5]], [[0, 0.375]], [[0, 1]], [[0, -0.25]]];
const kPairs = [[[0, 0.75], [1, 0.25]], [[0, 0.125], [1, 0.875]], [[0, 0.5], [1, 0.5]], [[1, 1]]];
const trees = (name, votes, more) => ml(`TreeEnsembleClassifier ${name}`, stumps(votes, more), [f32([9, 3])], kBoth);
const kTrees = [
  ...kTransforms.flatMap((post_transform) => [
    trees(`${post_transform}, three strings`, kForest, {...kThree, post_transform}),
    ...(post_transform === 'PROBIT' ? [] : [
      trees(`${post_transform}, two strings, shares`, kShares, {...kTwo, post_transform}),
      trees(`${post_transform}, two integers, shares`, kShares, {classlabels_int64s: [3, 8], post_transform}),
      trees(`${post_transform}, two strings, margins`, kMargins, {...kTwo, post_transform})]),
    trees(`${post_transform}, two strings, shares of the second`, kSecond, {...kTwo, post_transform}),
  ]),
  trees('base values', kForest, {...kThree, base_values: floats(0.5, -1, 0.25)}),
  trees('two strings, base value', kMargins, {...kTwo, post_transform: 'LOGISTIC', base_values: floats(0.3)}),
];

// Networks as exporters write them: the scores become maps in the model that OpKit gets.
const node = (op, inputs, outputs, attributes = {}, domain = 'ai.onnx.ml') => ({op, inputs, outputs, attributes, domain});
const onnx = (op, inputs, outputs, attributes = {}) => node(op, inputs, outputs, attributes, '');
const named = (name, input) => ({...input, name});
const network = (name, nodes, inputs, outputs, more = {}) => ({name, nodes, inputs, outputs, domain: 'ai.onnx.ml', ...more});
const mapsOf = (of, labels) => ({maps: {of, attributes: labels, keys: labels.classlabels_strings ? 'string' : 'int64'}});

const kIris = named('X', reals([4, 3], [5.1, 3.5, 1.4, 6.7, 3.1, 4.4, 6.3, 3.3, 6, 5, 2, 3.5]));
const kMeans = {offset: floats(5.75, 3, 3.5), scale: floats(1.25, 2.5, 0.5)};
const logistic = (labels, more) => [
  node('Scaler', ['X'], ['variable'], kMeans),
  node('LinearClassifier', ['variable'], ['label', 'probability_tensor'], {...kWeights, ...labels, ...more}),
  node('Normalizer', ['probability_tensor'], ['probabilities'], {norm: 'L1'})];
const kFlowers = {classlabels_strings: strings('setosa', 'versicolor', 'virginica')};
const kDigits = {classlabels_ints: [0, 5, 9]};
const kColumns = [
  named('age', reals([4, 1], [22, NaN, 38, 4])), named('fare', reals([4, 1], [7.25, 8, NaN, 71])),
  named('sex', words([4, 1], ['male', 'female', 'female', 'unknown'])), named('port', words([4, 1], ['S', 'C', '', 'Q']))];
const kPassengers = [
  onnx('Concat', ['age', 'fare'], ['numbers'], {axis: 1}),
  node('Imputer', ['numbers'], ['filled'], {imputed_value_floats: floats(28, 14.5), replaced_value_float: float(NaN)}),
  node('Scaler', ['filled'], ['scaled'], {offset: floats(29.5, 32), scale: floats(0.0625, 0.03125)}),
  onnx('Concat', ['sex', 'port'], ['words'], {axis: 1}),
  node('ArrayFeatureExtractor', ['words', 'column0'], ['word0']), node('ArrayFeatureExtractor', ['words', 'column1'], ['word1']),
  node('OneHotEncoder', ['word0'], ['hot0'], {cats_strings: strings('female', 'male'), zeros: 1}),
  node('OneHotEncoder', ['word1'], ['hot1'], {cats_strings: strings('', 'C', 'Q', 'S'), zeros: 1}),
  onnx('Concat', ['hot0', 'hot1'], ['hot'], {axis: 2}), onnx('Reshape', ['hot', 'rows'], ['flat']),
  onnx('Concat', ['scaled', 'flat'], ['features'], {axis: 1}),
  node('LinearClassifier', ['features'], ['label', 'probability_tensor'], {
    coefficients: floats(0.5, -0.25, -1.25, 1.5, 0.125, -0.5, 0.25, 0.375, -0.5, 0.25, 1.25, -1.5, -0.125, 0.5, -0.25, -0.375), intercepts: floats(0.25, -0.25),
    classlabels_ints: [0, 1], multi_class: 1, post_transform: 'LOGISTIC'}),
  node('Normalizer', ['probability_tensor'], ['probabilities'], {norm: 'L1'}), onnx('Cast', ['label'], ['output_label'], {to: 7})];
const kCar = [
  named('vendor', words([3, 1], ['CMT', 'VTS', 'new'])), named('count', i64([3, 1], [1, 2, 4])), named('distance', reals([3, 1], [3.75, 1.5, 0.25]))];
const kPrices = [
  node('LabelEncoder', ['vendor'], ['key64'], {keys_strings: strings('VTS', 'CMT'), values_int64s: [1, 2], default_int64: 0}),
  onnx('Cast', ['key64'], ['key'], {to: 12}), onnx('Cast', ['key'], ['key0'], {to: 7}),
  node('OneHotEncoder', ['key0'], ['hot'], {cats_int64s: [1, 2], zeros: 1}), onnx('Squeeze', ['hot', 'one'], ['vendors']),
  onnx('Cast', ['count'], ['count0'], {to: 1}),
  node('FeatureVectorizer', ['vendors', 'count0', 'distance'], ['features'], {inputdimensions: [2, 1, 1]}),
  node('Normalizer', ['features'], ['unit'], {norm: 'MAX'}),
  onnx('Gemm', ['unit', 'weights', 'offsets'], ['scores']), onnx('Softmax', ['scores'], ['Score'], {axis: 1}),
  onnx('ArgMax', ['Score'], ['place'], {axis: 1, keepdims: 1}),
  node('LabelEncoder', ['place'], ['PredictedLabel'], {keys_int64s: [0, 1, 2], values_strings: strings('cash', 'card', 'none')}),
  onnx('Slice', ['Score', 'from', 'to', 'axis'], ['second'])];
// ONNX Runtime names the second of two classes with votes for both whenever its sum is positive: the scores alone are compared.
const ofPairs = (post_transform) => network(
    `two classes with votes for both, ${post_transform}`,
    [node('TreeEnsembleClassifier', ['X'], ['label', 'scores'], stumps(kPairs, {...kTwo, post_transform}))], [named('X', f32([9, 3]))], ['scores']);
const kNetworks = [
  ...kTransforms.map(ofPairs),
  network('logistic regression of strings', logistic(kFlowers, {multi_class: 1, post_transform: 'SOFTMAX'}), [kIris], ['label', 'probabilities'], mapsOf('probabilities', kFlowers)),
  network('logistic regression of integers', logistic(kDigits, {post_transform: 'LOGISTIC'}), [kIris], ['label', 'probabilities'], mapsOf('probabilities', {classlabels_int64s: [0, 5, 9]})),
  network('random forest', [node('TreeEnsembleClassifier', ['X'], ['label', 'probabilities'], stumps(kForest, {...kFlowers, post_transform: 'NONE', nodes_values: floats(...[5.5, 2.75, 4].flatMap((split) => [split, 0, 0]))}))],
          [kIris], ['label', 'probabilities'], mapsOf('probabilities', kFlowers)),
  network('passengers', kPassengers, [
    ...kColumns, constant(named('column0', i64([1], [0]))), constant(named('column1', i64([1], [1]))), constant(named('rows', i64([2], [-1, 6])))],
          ['output_label', 'probabilities'], {...mapsOf('probabilities', {classlabels_int64s: [0, 1]}), opset: 15}),
  network('prices of ML.NET', kPrices, [
    ...kCar, constant(named('one', i64([1], [1]))), constant(named('weights', reals([4, 3], [1, 0, -1, 0.5, 2, 0, -0.25, 0.5, 1, 0.75, -1, 0.125]))), constant(named('offsets', reals([3], [0.125, 0, -0.25]))),
    constant(named('from', i64([1], [1]))), constant(named('to', i64([1], [2]))), constant(named('axis', i64([1], [1])))],
          ['Score', 'PredictedLabel', 'second'], {version: 2, opset: 15}),
];

export const kLearning = [...kEncoders, ...kFeatures, ...kText, ...kLinear, ...kSupport, ...kTrees, ...kNetworks];
