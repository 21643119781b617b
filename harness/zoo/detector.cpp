#include <array>

#include "harness/zoo/network_builder.h"
#include "harness/zoo/networks.h"

namespace opkit::zoo {
namespace {

constexpr int64_t kClasses = 5;
constexpr int64_t kWidth = 64;       // channels of the pyramid
constexpr int64_t kCandidates = 32;  // per image, before suppression
using Ints = std::vector<int64_t>;

class Detector {
 public:
  std::vector<uint8_t> build() {
    std::string x = net_.input("input", {"N", 3, "H", "W"}, {1, 3, 128, 128});
    int64_t channels = 3;
    std::array<std::string, 4> stages;
    for (size_t i = 0; i < stages.size(); ++i) {
      const int64_t out = int64_t{16} << i;
      x = stages[i] = convNormRelu(x, channels, out, 2);
      channels = out;
    }
    const std::string coarse = net_.conv(stages[3], 128, kWidth, 1, {.bias = true});
    const std::string fine = net_.conv(stages[2], 64, kWidth, 1, {.bias = true});
    const Predictions near = head(net_.node("Add", {fine, resizedLike(coarse, fine)}), 8);
    const Predictions far = head(coarse, 16);
    const std::string scores = net_.node("Concat", {near.scores, far.scores}, {{"axis", int64_t{2}}});
    const std::string boxes = net_.node("Concat", {near.boxes, far.boxes}, {{"axis", int64_t{2}}});
    return detections(best(scores, boxes));
  }

 private:
  /// Of M places: scores [N, classes, M]; boxes [N, 4, M], or [N, M, 4] once chosen, as y1, x1, y2, x2 in pixels.
  struct Predictions {
    std::string scores;
    std::string boxes;
  };

  std::string convNormRelu(const std::string& x, int64_t in, int64_t out, int64_t stride) {
    return net_.node("Relu", {net_.batchNormalization(net_.conv(x, in, out, 3, {.stride = stride, .pad = 1}), out)});
  }

  /// x at the height and width of `like`, by the nearest element.
  std::string resizedLike(const std::string& x, const std::string& like) {
    const std::string sizes =
        net_.node("Concat", {net_.extents(x, {0, 1}), net_.extents(like, {2, 3})}, {{"axis", int64_t{0}}});
    return net_.node("Resize", {x, "", "", sizes},
                     {{"mode", std::string("nearest")},
                      {"coordinate_transformation_mode", std::string("asymmetric")},
                      {"nearest_mode", std::string("floor")}});
  }

  /// [N, C, H, W] to [N, C, H W].
  std::string flat(const std::string& x) { return net_.node("Reshape", {x, net_.integers({0, 0, -1})}); }

  /// The middle of each place along `axis` (2 or 3) in pixels, as [1, 1, H W].
  std::string centres(const std::string& x, int64_t axis, int64_t stride) {
    const std::string count = net_.node("Squeeze", {net_.extents(x, {axis})});
    const std::string steps = net_.node("Range", {net_.integer(0), count, net_.integer(1)});
    const std::string places = net_.node("Cast", {steps}, {{"to", int64_t{onnx::TensorProto::FLOAT}}});
    const auto scale = static_cast<float>(stride);
    const std::string pixels =
        net_.node("Add", {net_.node("Mul", {places, net_.scalar(scale)}), net_.scalar(scale / 2)});
    const std::string line = net_.node("Unsqueeze", {pixels, net_.integers({axis == 2 ? 1 : 0})});
    const std::string plane = net_.node("Expand", {line, net_.extents(x, {2, 3})});
    return net_.node("Reshape", {plane, net_.integers({1, 1, -1})});
  }

  /// Scores, and distances from the middle of a place to the four sides of its box: at most 4 strides each.
  Predictions head(const std::string& features, int64_t stride) {
    const std::string x = convNormRelu(features, kWidth, kWidth, 1);
    const std::string scores =
        net_.node("Sigmoid", {flat(net_.conv(x, kWidth, kClasses, 3, {.pad = 1, .bias = true}))});
    const std::string sides = net_.node("Sigmoid", {flat(net_.conv(x, kWidth, 4, 3, {.pad = 1, .bias = true}))});
    const std::string distances = net_.node("Mul", {sides, net_.scalar(4.0f * static_cast<float>(stride))});
    const std::vector<std::string> to = net_.outputs(4, "Split", {distances}, {{"axis", int64_t{1}}});
    const std::string y = centres(x, 2, stride);
    const std::string along = centres(x, 3, stride);
    return {scores, net_.node("Concat",
                              {net_.node("Sub", {y, to[0]}), net_.node("Sub", {along, to[1]}),
                               net_.node("Add", {y, to[2]}), net_.node("Add", {along, to[3]})},
                              {{"axis", int64_t{1}}})};
  }

  /// The places with the largest scores of any class.
  Predictions best(const std::string& scores, const std::string& boxes) {
    const std::string largest = net_.node("ReduceMax", {scores}, {{"axes", Ints{1}}, {"keepdims", int64_t{0}}});
    const std::string places =
        net_.outputs(2, "TopK", {largest, net_.integers({kCandidates})}, {{"axis", int64_t{1}}})[1];
    const auto chosen = [&](const std::string& x, int64_t rows) {
      const std::string line = net_.node("Unsqueeze", {places, net_.integers({1})});
      const std::string indices = net_.node("Tile", {line, net_.integers({1, rows, 1})});
      return net_.node("GatherElements", {x, indices}, {{"axis", int64_t{2}}});
    };
    return {chosen(scores, kClasses), net_.node("Transpose", {chosen(boxes, 4)}, {{"perm", Ints{0, 2, 1}}})};
  }

  /// The boxes that suppression keeps, a row each: image, class, score, y1, x1, y2, x2.
  std::vector<uint8_t> detections(const Predictions& candidates) {
    const std::string kept = net_.node("NonMaxSuppression", {candidates.boxes, candidates.scores, net_.integers({10}),
                                                             net_.scalar(0.5f), net_.scalar(0.3f)});
    const std::vector<std::string> columns =
        net_.outputs(3, "Split", {kept, net_.integers({1, 1, 1})}, {{"axis", int64_t{1}}});
    const std::string labels = net_.node("Concat", {columns[0], columns[1]}, {{"axis", int64_t{1}}});
    const std::string places = net_.node("Concat", {columns[0], columns[2]}, {{"axis", int64_t{1}}});
    const std::string score =
        net_.node("Unsqueeze", {net_.node("GatherND", {candidates.scores, kept}), net_.integers({1})});
    const std::string rows = net_.node("Concat",
                                       {net_.node("Cast", {labels}, {{"to", int64_t{onnx::TensorProto::FLOAT}}}), score,
                                        net_.node("GatherND", {candidates.boxes, places})},
                                       {{"axis", int64_t{1}}});
    return net_.finish(rows, {"D", 7});
  }

  NetworkBuilder net_{"detector", 17, 1808};
};

}  // namespace

std::vector<uint8_t> buildDetector() { return Detector().build(); }

}  // namespace opkit::zoo
