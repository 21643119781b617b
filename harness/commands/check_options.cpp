#include "harness/commands/check_options.h"

#include "harness/commands/oracle_option.h"

namespace opkit::harness {
namespace {

constexpr int kLatestOpset = 1000;

/// --ort and what goes with it. Options about OpKit's own backends do not.
void addGuestOptions(CLI::App& command, CheckArguments& options) {
  options.guest.add(command);
  CLI::Option* const ort = command.get_option("--ort");
  command
      .add_option("--opset", options.opset,
                  "With --ort: write nodes of this opset of ONNX (default: the newest form "
                  "that the provider claims)")
      ->check(cli::wholeNumber(1, kLatestOpset))
      ->needs(ort);
  for (const char* own :
       {"--backend", "--device", "--validation", "--mask", "--simd", "--brief", "--in-turns", "--slowest", "--oracle",
        "--store", "--debug", "--sanitize", "--evidence", "--verify", "--margins", "--subchecks"})
    ort->excludes(command.get_option(own));
}

}  // namespace

CLI::Option* addCheckOptions(CLI::App& command, const std::shared_ptr<CheckArguments>& options) {
  options->backend.backends = {"cpu", "vulkan"};
  options->backend.add(command, "cpu,vulkan");
  options->cases.add(command);
  options->cases.reach = true;
  command.add_flag_callback(
      "--written", [options] { options->cases.reach = false; },
      "Run only the cases that are written in case files, not those that are drawn from them");
  CLI::Option* const sample = command.add_flag(
      "--sample", options->sample,
      "Run a few cases of each operator, which together run each kernel with each dtype, and each shader");
  CLI::Option* const brief = command.add_flag("--brief", options->brief,
                                              "Run only the sub-checks that need one Session: values, guards, "
                                              "unwritten elements, a second run, a clone (a fifth of the time)");
  brief->excludes(sample);
  command
      .add_option(
          "--budget", options->budget,
          "Choose cases for this many estimated seconds on two cores: the core, drawn cases, and a part of the others "
          "that changes each day; none runs all (default 180; none if another option chooses cases)")
      ->check(cli::seconds() | CLI::IsMember({"none"}))
      ->excludes(sample);
  command.add_flag("--in-turns", options->inTurns,
                   "Check one group of each operator in turn, so that a run that is cut has seen every operator");
  command.add_option("--day", options->day, "Choose the cases of another day, by its number (default today)");
  command.add_option("--slowest", options->slowest, "Print the N cases that took longest")
      ->check(cli::wholeNumber(1, 100000));
  command.add_option("--fuzz", options->cases.fuzz, "Draw this many further cases per operator from its card")
      ->check(cli::wholeNumber(0, kMostDrawn));
  command.add_option("--jobs", options->jobs, "Use this many worker processes")
      ->capture_default_str()
      ->check(cli::wholeNumber(1, kMostWorkers));
  addShard(command, options->shard, "the cases");
  CLI::Option* const timeout = command
                                   .add_option("--timeout", options->timeoutSeconds,
                                               "Fail a group of cases after this many seconds; waiting for a core "
                                               "that other processes use does not count "
                                               "(default: ten times the estimate of a group, 5 to 120)")
                                   ->check(cli::seconds());
  command.add_option("--memory", options->memoryMiB, "Limit the memory of a worker, in MiB; 0 is no limit")
      ->check(cli::wholeNumber(0, 1u << 30))
      ->capture_default_str();
  CLI::Option* const oracle = addOracleOptions(command, options->backend.oracle);
  CLI::Option* const store =
      command
          .add_option("--store", options->storeFile,
                      "Put small cases with the values of --oracle as \"expected\" into this case file; check nothing")
          ->check(cli::completedFile())
          ->needs(oracle)
          ->excludes(sample);
  command
      .add_option("--save", options->saveFolder,
                  "Shrink the first failure per operator and save it here (.opcase, and a folder with a model of ONNX)")
      ->check(cli::outputFolder())
      ->excludes(oracle);
  command
      .add_option(
          "--debug", options->debugFolder,
          "Run one case in this process, for a debugger; write its inputs, expected and actual values here (.npy)")
      ->check(cli::outputFolder())
      ->excludes(sample)
      ->excludes(store);
  command
      .add_option("--sanitize", options->backend.sanitize,
                  "Trace the shaders of small cases and look for race,bounds,init,loops")
      ->type_name("PARTS");
  options->expectations.add(command);
  options->evidence.add(command);
  options->command = &command;
  command
      .add_option("--margins", options->backend.margins,
                  "Compare with this record of margins in place of the build's (harness/check/margins.tsv)")
      ->check(cli::existingFile());
  command.add_option("--json", options->json, "Append results as JSON lines (reports/schema.md)")
      ->check(cli::appendedFile())
      ->excludes(store);
  command.add_option("--junit", options->junit, "Write a JUnit XML report")->check(cli::outputFile())->excludes(store);
  command.add_flag("--annotations", options->annotations, "Also print failures as GitHub annotations");
  command.add_flag("--subchecks", options->subChecks,
                   "Print a table of operators and sub-checks: how often each ran, and why it did not");
  command.add_flag("--verbose", options->verbose, "Print each case and its sub-checks");
  addGuestOptions(command, *options);
  command.footer(
      "Examples:\n"
      "  op-harness check --backend cpu,vulkan\n"
      "  op-harness check --op Softmax --backend vulkan --validation core\n"
      "  op-harness check --backend vulkan --mask no-fp16,shared=16k,workgroup=128\n"
      "  op-harness check --op Conv --fuzz 50 --seed 3 --save /tmp/failures\n"
      "  op-harness check --op Softmax --oracle softmax.py\n"
      "  op-harness check --op Softmax --oracle softmax.py --store ops/softmax/softmax.cases.json\n"
      "  op-harness check --expectations reports/expectations\n"
      "  op-harness check --op Softmax --evidence evidence.md\n"
      "  op-harness check --verify evidence.md\n"
      "  op-harness check --ort libonnxruntime.so.1 --ep webgpu\n"
      "  op-harness check --case 'Softmax{\"axis\":0}/f32[3,5,7]/normal/seed=7'\n"
      "  gdb --args op-harness check --backend cpu --case ID --brief --debug /tmp/case");
  return timeout;
}

}  // namespace opkit::harness
