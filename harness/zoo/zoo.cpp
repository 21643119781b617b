#include "harness/zoo/zoo.h"

#include <functional>

#include "harness/zoo/networks.h"
#include "harness/zoo/parameters.h"

namespace opkit {
namespace {

using Builder = std::function<std::vector<uint8_t>()>;

struct Network {
  const char* name;
  Result<Builder> (*prepare)(std::string_view parameters);
};

template <std::vector<uint8_t> (*build)()>
Result<Builder> fixed(std::string_view parameters) {
  OPKIT_TRY(zoo::readParameters(parameters, {}));
  return Builder(build);
}

Result<Builder> decoder(std::string_view parameters) {
  zoo::DecoderSizes sizes;
  const zoo::Parameter known[] = {{"layers", &sizes.layers, 1000},       {"model", &sizes.model, 1'000'000},
                                  {"heads", &sizes.heads, 1'000'000},    {"kv_heads", &sizes.kvHeads, 1'000'000},
                                  {"hidden", &sizes.hidden, 1'000'000},  {"vocabulary", &sizes.vocabulary, 1'000'000},
                                  {"context", &sizes.context, 1'000'000}};
  OPKIT_TRY(zoo::readParameters(parameters, known));
  OPKIT_TRY(zoo::checkDecoder(sizes));
  return Builder([sizes] { return zoo::buildDecoder(sizes); });
}

constexpr Network kNetworks[] = {{"decoder", decoder},
                                 {"detector", fixed<zoo::buildDetector>},
                                 {"mobilenet_v1_fp16", fixed<zoo::buildMobilenetV1Fp16>},
                                 {"mobilenet_v2", fixed<zoo::buildMobilenetV2>},
                                 {"resnet50", fixed<zoo::buildResnet50>},
                                 {"resnet50_qdq", fixed<zoo::buildResnet50Qdq>},
                                 {"resnet50_qlinear", fixed<zoo::buildResnet50QLinear>},
                                 {"speech", fixed<zoo::buildSpeech>},
                                 {"squeezenet", fixed<zoo::buildSqueezenet>},
                                 {"transformer", fixed<zoo::buildTransformer>},
                                 {"unet", fixed<zoo::buildUnet>},
                                 {"vit", fixed<zoo::buildVit>}};

Result<Builder> prepared(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  for (const Network& network : kNetworks) {
    if (network.name != name) continue;
    Result<Builder> builder = network.prepare(text.substr(std::min(text.size(), name.size() + 1)));
    if (!builder) return builder.error().withContext(network.name);
    return builder;
  }
  return Status::invalidArgument("the zoo has no network '{}'; expected one of {}", name, fmt::join(zooNames(), ", "));
}

}  // namespace

std::vector<std::string> zooNames() {
  std::vector<std::string> names;
  for (const Network& network : kNetworks) names.emplace_back(network.name);
  return names;
}

Status checkZoo(const std::string& name) { return prepared(name).error(); }

Result<std::vector<uint8_t>> buildZoo(const std::string& name) {
  OPKIT_ASSIGN(const Builder build, prepared(name));
  return build();
}

}  // namespace opkit
