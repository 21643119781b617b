// Refusals of op-harness before anything runs: senseless values, options for a backend that was not requested,
// unwritable paths.
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/testing/program.h"

namespace opkit::harness {
namespace {

const std::string kOne = "--op Relu --backend cpu ";

TEST(Refusals, NumbersThatMakeNoSense) {
  for (const char* value : {"-1", "nan", "1.5", "1e3", "''", "18446744073709551616"}) {
    expectOneLine(run("check " + kOne + "--fuzz=" + value), "--fuzz: expected a whole number");
    expectOneLine(run("check " + kOne + "--seed=" + value), "--seed: expected a whole number");
  }
  expectOneLine(run("check " + kOne + "--jobs 0"), "from 1 to 1024, got '0'");
  expectOneLine(run("check " + kOne + "--memory 99999999999999"), "--memory: expected a whole number");
  for (const char* value : {"0", "-1", "nan", "inf", "1e99"}) {
    expectOneLine(run("check " + kOne + "--timeout=" + value), "--timeout: expected a number");
    expectOneLine(run(std::string("conformance --timeout=") + value), "--timeout: expected a number");
  }
  expectOneLine(run("bench " + kOne + "--threshold=nan"), "--threshold: expected a number");
  expectOneLine(run("mutate --op Relu --threshold=101"), "from 0 to 100, got '101'");
  expectOneLine(run("model zoo:transformer --gate=nan"), "--gate: expected a number");
  for (const char* value : {"0/2", "3/2", "-1/2", "1/-1", "1/2 ", "1", "/2", "1/2/3"})
    expectOneLine(run("check " + kOne + "--shard='" + value + "'"), "--shard expects I/N");
}

TEST(Refusals, OptionsForABackendThatWasNotAskedFor) {
  expectOneLine(run("check " + kOne + "--mask no-fp16"), "--mask is for the backend vulkan, got --backend cpu");
  expectOneLine(run("bench " + kOne + "--mask no-fp16"), "--mask is for the backend vulkan");
  expectOneLine(run("check " + kOne + "--validation core"), "--validation is for the backend vulkan");
  expectOneLine(run("model zoo:transformer --backend cpu --mask no-fp16"), "--mask is for the backend vulkan");
  expectOneLine(run("check --op Relu --backend cpu,reference --device 1"), "--device is for one backend or for vulkan");
}

TEST(Refusals, PlacesThatCannotBeWrittenAreSaidAtTheStart) {
  const std::string file = fileWith("refusals_file", "");
  for (const std::string& place : {std::string("/no/such/folder/x"), file + "/x", testing::TempDir()}) {
    expectOneLine(run("check " + kOne + "--json " + place), "--json: cannot write");
    expectOneLine(run("check " + kOne + "--junit " + place), "--junit: cannot write");
    expectOneLine(run("devices --json " + place), "--json: cannot write");
  }
  expectOneLine(run("check " + kOne + "--save " + file), "--save: cannot write");
  expectOneLine(run("check " + kOne + "--save " + file + "/deeper"), "--save: cannot write");
  expectOneLine(run("check " + kOne + "--json ''"), "--json: expected a file, got an empty text");
  expectOneLine(run("list --ids --json " + file), "--ids excludes --json");
}

TEST(Refusals, UnexpectedWordsNameTheirCommand) {
  expectOneLine(run("check --bugdet 3"),
                "op-harness: check: there is no option '--bugdet'; see op-harness check --help");
  expectOneLine(run("--bugdet 3"), "op-harness: there is no option '--bugdet'; see op-harness --help");
  expectOneLine(run("list extra"), "op-harness: list: unexpected argument 'extra'; see op-harness list --help");
  expectOneLine(run("check --jobs 0"), "got '0'; see op-harness check --help");
  expectOneLine(run("check --op"), "op-harness: --op: expected a value; see op-harness check --help");
  expectOneLine(run("check --seed 1 --seed 2"), "op-harness: --seed: expected one value, got several; see");
  expectOneLine(run("chek"), "op-harness: expected a subcommand of list, devices,");
  expectOneLine(run(""), "op-harness: expected a subcommand of list, devices,");
}

TEST(Refusals, FoldersThatDoNotExist) {
  expectOneLine(run("mutate --op Relu --source /no/such/tree"), "--source: there is no folder '/no/such/tree'");
  expectOneLine(run("conformance /no/such/data"), "there is no folder '/no/such/data'");
}

}  // namespace
}  // namespace opkit::harness
