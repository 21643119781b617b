#include "harness/commands/expectation_options.h"

namespace opkit::harness {
namespace {

std::vector<DeviceInfo> infosOf(const std::vector<DescribedDevice>& devices) {
  std::vector<DeviceInfo> infos;
  for (const DescribedDevice& device : devices) infos.push_back(device.info);
  return infos;
}

/// Files may also be for another engine's provider, if the run asks it.
std::vector<std::string> backendNames(const std::vector<DescribedDevice>& devices) {
  std::vector<std::string> names;
  for (const BackendKind& kind : backendKinds()) names.push_back(kind.name);
  for (const DescribedDevice& device : devices) names.push_back(device.info.backend);
  return names;
}

}  // namespace

void ExpectationOptions::add(CLI::App& command) {
  command
      .add_option("--expectations", folder,
                  "Read known failures, flakes and skips from this folder (reports/expectations)")
      ->check(cli::existingFolder());
  command.add_option("--emit-expectations", emitFolder, "Add this run's failures to the expectation files of a folder")
      ->check(cli::outputFolder());
}

Result<Expectations> ExpectationOptions::read(const std::vector<DescribedDevice>& devices) const {
  if (folder.empty()) return Expectations();
  return Expectations::read(folder, infosOf(devices), backendNames(devices));
}

Result<std::optional<ExpectationWriter>> ExpectationOptions::openWriter(
    const std::vector<DescribedDevice>& devices) const {
  if (emitFolder.empty()) return std::optional<ExpectationWriter>();
  OPKIT_ASSIGN(ExpectationWriter writer, ExpectationWriter::open(emitFolder, infosOf(devices), backendNames(devices)));
  return std::optional(std::move(writer));
}

Status printWritten(const ExpectationWriter& writer) {
  OPKIT_ASSIGN(const std::vector<std::string> written, writer.write());
  for (const std::string& note : written) fmt::print("{}\n", note);
  return Status::ok();
}

}  // namespace opkit::harness
