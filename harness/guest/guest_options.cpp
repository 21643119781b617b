#include "harness/guest/guest_options.h"

#include <set>

#include "harness/run/build_facts.h"

namespace opkit::harness {

void GuestOptions::add(CLI::App& command) {
  choice.provider = "cpu";
  CLI::Option* const ort = command.add_option(
      "--ort", choice.library, "Ask a provider of this ONNX Runtime (libonnxruntime.so.1), without fallback to others");
  command.add_option("--ep", choice.provider, "The provider, as the library names it: cpu, webgpu, ...")
      ->capture_default_str()
      ->needs(ort);
  command.add_option("--ep-library", choice.providerLibrary, "The library of a provider that is a plugin")->needs(ort);
  command
      .add_option_function<std::vector<std::string>>(
          "--ep-option",
          [this](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const auto setting = cli::parseNamedValue("--ep-option", text);
              if (!setting) throw CLI::ValidationError(setting.error().message());
              choice.settings.emplace_back(setting->name, setting->value);
            }
          },
          "A setting of the provider: NAME=VALUE; may be repeated")
      ->allow_extra_args(false)
      ->needs(ort);
}

Status GuestOptions::check() const {
  if (!choice.isGiven()) return Status::ok();
  if (*kBuildFacts.operators)
    return Status::unsupported(
        "--ort: not in this partial build for {}; `cmake --preset release && cmake --build --preset release --target "
        "op-harness` makes build/release/bin/op-harness, which has it",
        kBuildFacts.operators);
  if (!choice.providerLibrary.empty() && choice.name() == "onnxruntime-cpu")
    return Status::invalidArgument(
        "--ep-library: expected --ep with the name of its provider, got '{}', which is in {}", choice.provider,
        choice.library);
  std::set<std::string> names;
  for (const auto& [name, value] : choice.settings)
    if (!names.insert(name).second) return Status::invalidArgument("--ep-option: '{}' is set twice", name);
  return Status::ok();
}

}  // namespace opkit::harness
