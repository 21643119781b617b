#include "harness/commands/bench_guest.h"

#include <algorithm>
#include <iterator>

#include "engine/base/child_process.h"
#include "engine/base/interrupt.h"
#include "harness/bench/baseline.h"
#include "harness/guest/guest_bench_run.h"
#include "harness/guest/guest_job.h"
#include "harness/guest/guest_logs.h"
#include "harness/run/closed_output.h"

namespace opkit::harness {
namespace {

Result<std::vector<BenchBackend>> benchBackends(const BackendOptions& options) {
  OPKIT_ASSIGN(const std::vector<BackendLane> lanes, openBackends(options));
  std::vector<BenchBackend> backends;
  for (const BackendLane& lane : lanes) backends.push_back({lane.name, lane.runtime});
  return backends;
}

void printAndWrite(const std::string& side, const GuestInfo& info, ResultFile& file) {
  const std::string engine = fmt::format("{} {}", info.engine, info.version),
                    name = info.device.empty() ? info.provider : fmt::format("{}, {}", info.provider, info.device);
  fmt::print("{}: {}, {}\n", side, engine, name);
  file.write(DeviceInfo{.backend = side, .name = name, .driver = engine, .uuid = ""});
}

Result<int> exitCode(const GuestBenchRun& run, const RunPlan& planned, const std::string& json) {
  if (interrupted()) printInterrupted(run.done(), planned, "cases", json);
  if (interrupted() || run.failed()) return cli::kCheckFailed;
  return run.timed() == 0 ? nothingRan("no case was timed on both sides") : cli::kSuccess;
}

}  // namespace

Result<int> benchGuest(const GuestBenchArguments& options, const std::string& commandLine) {
  OPKIT_TRY(options.backend.check());
  std::vector<std::string> sides = {options.guest.name()};
  std::ranges::copy(options.backend.backends, std::back_inserter(sides));
  RunPlan planned;
  for (const std::string& side : sides) planned[side] = options.chosen.size();
  const ClosedOutput closed;
  OPKIT_ASSIGN(const GuestLogs logs, GuestLogs::create());  // for the guest's temporary files
  OPKIT_ASSIGN(const GuestInfo info, describeGuest(options.guest));
  OPKIT_ASSIGN(const std::vector<DescribedDevice> devices, describeDevices(options.backend));
  ResultFile file;
  OPKIT_TRY(file.open(options.json, commandLine, options.seed, planned));
  file.summary().part = options.part;
  noteOldBuild();
  printAndWrite(sides[0], info, file);
  for (const DescribedDevice& device : devices) {
    printDevice(device.info);
    file.write(device.info, device.profile);
  }
  const GracefulInterrupt graceful;
  const GuestBenchPlan plan{.registry = options.registry,
                            .rules = plugins().onnxRules(),
                            .sides = sides,
                            .chosen = options.chosen,
                            .options = options.measure,
                            .timeoutSeconds = options.timeoutSeconds,
                            .repeat =
                                [&](const std::string& side, const std::string& id) {
                                  return side == sides[0] ? repeatGuest(options.guest, id)
                                                          : fmt::format("op-harness check --backend {} --case {}", side,
                                                                        shellQuoted(id));
                                },
                            .openGuest = [&] { return openOnnxRuntime(options.guest); },
                            .openBackends = [&] { return benchBackends(options.backend); }};
  GuestBenchRun run(plan, file);
  OPKIT_TRY(run.run());
  run.print();
  for (const DescribedDevice& device : devices) cautionOf(device.info.backend, device.info.software);
  OPKIT_TRY(file.close());
  return exitCode(run, planned, options.json);
}

}  // namespace opkit::harness
