#include "reports/ops_page/ops_page.h"

#include <gtest/gtest.h>

#include <sstream>

#include "engine/testing/nowhere.h"
#include "reports/ops_page/numeric_names.h"
#include "reports/ops_page/ops_differences.h"
#include "reports/ops_page/ops_words.h"
#include "reports/testing/results_text.h"

namespace opkit::reports {
namespace {

using Lines = std::vector<std::string>;

const DTypeSet kTwoFloats{DType::Float32, DType::Float64};
const std::vector<std::string> kBackends = {"cpu", "vulkan"};

void expectHas(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

struct CardText {
  std::string type = "Wave";
  NumericClass numeric = NumericClass::Transcendental;
  DTypeSet dtypes = kTwoFloats;
  std::vector<std::string> cpu = {"vector", "scalar"}, vulkan = {"image", ""};
  std::string folder = "waves", provider = "opkit";
};

void addTo(OpRegistry& registry, const CardText& card) {
  registry.setFolder(card.folder);
  registry.add({.type = card.type,
                .inputs = {{"x", card.dtypes}},
                .outputs = {{"y"}},
                .numeric = card.numeric,
                .inferShapes = [](const ShapeArgs&) -> Result<std::vector<TensorDesc>> { return Status::ok(); }});
  for (const std::string& kernel : card.cpu)
    registry.addCreator("cpu", card.type, {.provider = card.provider, .kernel = kernel});
  for (const std::string& kernel : card.vulkan)
    registry.addCreator("vulkan", card.type, {.provider = "opkit", .kernel = kernel});
}

OpRegistry registryOf(const std::vector<CardText>& cards) {
  OpRegistry registry;
  for (const CardText& card : cards) addTo(registry, card);
  return registry;
}

const CardText kSum{.type = "Total", .numeric = NumericClass::Sum, .cpu = {""}, .vulkan = {""}, .folder = "totals"};

/// One line of a case, of the run "a" unless said.
struct CaseText {
  std::string op = "Wave", backend = "cpu", dtype = "f32", kernel = "vector", status = "pass", margin = "0.25", reason;
  std::string kind = "check", more, run = "a", id = "Wave/f32[3]";

  std::string text() const {
    return fmt::format(
        R"({{"record":"case","run":"{}","kind":"{}","id":"{}","op":"{}","backend":"{}","provider":"opkit","kernel":"{}","dtype":"{}","status":"{}","reason":"{}","accuracy":{{"margin":{}}}{}}})"
        "\n",
        run, kind, id, op, backend, kernel, dtype, status, reason, margin, more);
  }
};

std::string headText(const std::string& run = "a", const std::string& command = "check --written --json out/x.jsonl",
                     const std::string& cpu = "CPU (AVX3)") {
  return fmt::format(
      R"({{"record":"run","schema":2,"run":"{0}","command":"{1}","started":"2026-01-31T12:00:00Z","commit":"0123456789abcdef","compiler":"GNU 12","build":"Release"}}
{{"record":"device","run":"{0}","backend":"cpu","name":"{2}","driver":"opkit"}}
{{"record":"device","run":"{0}","backend":"vulkan","name":"llvmpipe","driver":"Mesa 22","software":true}}
)",
      run, command, cpu);
}

/// Both backends run Wave; Vulkan refuses its f64 and one f32 case, and the CPU was timed.
std::string goodText() {
  std::string text = headText();
  text += CaseText{}.text() + CaseText{.kernel = "scalar", .margin = "0.125"}.text();
  text += CaseText{.dtype = "f64", .kernel = "scalar", .margin = "0.5"}.text();
  text += CaseText{.backend = "vulkan", .kernel = "", .margin = "0.375"}.text();
  const std::string refusal = "Wave: images hold floats, got f64[3]; Wave: the kernel has no f64 variant, got f64[3]";
  text += CaseText{.backend = "vulkan", .dtype = "f64", .kernel = "scalar", .status = "unsupported", .reason = refusal}
              .text();
  text += CaseText{.backend = "vulkan", .status = "unsupported", .reason = "Wave: takes 2 axes, got 3"}.text();
  text += CaseText{.status = "pass", .margin = "9", .id = "error: Wave takes 1 input"}.text();
  for (const char* bytes : {"4e6", "8e6", "100"})
    text += CaseText{.kind = "roof",
                     .more = fmt::format(
                         R"(,"bytes":{},"threads":1,"times":{{"executeKernel":{{"min":1e6,"median":2e6}}}})", bytes)}
                .text();
  text += CaseText{.kind = "roof", .more = R"(,"bytes":9e9,"threads":4,"times":{"executeKernel":{"min":1e6}})"}.text();
  text += CaseText{.kind = "bench", .more = R"(,"bytes":9e9,"times":{"executeWall":{"median":1e6}})"}.text();
  return text;
}

/// The end of each run of the text.
std::string endText(const std::string& text) {
  std::string ends;
  for (const char* run : {"a", "b"})
    if (text.find(fmt::format(R"("record":"run","schema":2,"run":"{}")", run)) != std::string::npos)
      ends += fmt::format(R"({{"record":"summary","run":"{}","outcome":"complete"}})"
                          "\n",
                          run);
  return ends;
}

Results resultsOf(const std::string& text) {
  Results results;
  std::istringstream stream(text + endText(text));
  const Status status = readResults(stream, "results", results);
  EXPECT_TRUE(status.isOk()) << status.message();
  return results;
}

OpsTable tableOf(const std::string& text, const OpRegistry& registry = registryOf({{}, kSum})) {
  const auto table = tableOfResults(resultsOf(text), registry);
  EXPECT_TRUE(table) << table.error().message();
  return table ? *table : OpsTable();
}

OpsTable parsed(const std::string& page) {
  const auto table = parseOpsPage(page);
  EXPECT_TRUE(table) << table.error().message() << "\n" << page;
  return table ? *table : OpsTable();
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const size_t found = text.find(part);
  EXPECT_NE(found, std::string::npos) << part << "\n" << text;
  return text.replace(found, part.size(), by);
}

TEST(OpsPage, ShowsKernelsMarginsRatesAndRefusals) {
  const std::string page = renderOpsPage(tableOf(goodText()));
  for (const char* expected :
       {"| cpu | CPU (AVX3) | opkit | hardware | none | GNU 12, Release | kernel alone, one thread |",
        "| vulkan | llvmpipe | Mesa 22 | software | none | GNU 12, Release | time on the device, else of the whole "
        "run; they say "
        "nothing about GPUs |",
        "| `op-harness check --written` | 0123456789ab | 2026-01-31 |",
        "| operator | error class | dtypes | cpu | margin | rate, GB/s | vulkan (software) | margin | rate, GB/s |",
        "| [Total](../ops/totals/totals.md) | Sum | f32, f64 | – |  |  | – |  |  |",
        "| [Wave](../ops/waves/waves.md) | Transcendental | f32 | opkit/scalar, opkit/vector | 0.25 | 8 | opkit "
        "(some refused) | 0.38 |  |",
        "|  |  | f64 | opkit/scalar | 0.5 |  | refused |  |  |",
        "| vulkan | f64 | the kernel has no f64 variant | all | Wave |",
        "| vulkan | f32 | takes 2 axes | some | Wave (1 of 2) |", "| cpu | opkit | Total |",
        "| vulkan | opkit/image | Wave |"})
    expectHas(page, expected);
  EXPECT_EQ(page.find("INCOMPLETE"), std::string::npos);
}

TEST(OpsPage, DTypesWithEqualCellsShareARow) {
  std::string text = headText();
  for (const char* dtype : {"f32", "f64"})
    text += CaseText{.op = "Total", .dtype = dtype, .kernel = "", .margin = "0"}.text() +
            CaseText{.op = "Total",
                     .dtype = dtype,
                     .kind = "bench",
                     .more = fmt::format(R"(,"bytes":{},"times":{{"executeWall":{{"median":1e6}}}})",
                                         dtype[1] == '3' ? 1e6 : 3e7)}
                .text();
  expectHas(renderOpsPage(tableOf(text)), "| [Total](../ops/totals/totals.md) | Sum | f32, f64 | opkit | 0 | 1–30 |\n");
}

TEST(OpsPage, ProductsCountOperationsAndTheDeviceIsTimed) {
  const CardText product{.type = "Wave", .numeric = NumericClass::Products};
  const std::string text =
      headText() + CaseText{.backend = "vulkan", .kernel = ""}.text() +
      CaseText{
          .backend = "vulkan",
          .kind = "bench",
          .more = R"(,"flops":5e7,"bytes":1e6,"times":{"executeWall":{"median":9e6},"executeDevice":{"median":1e6}})"}
          .text();
  expectHas(renderOpsPage(tableOf(text, registryOf({product}))), "| 0.25 | 50 GFLOP/s |");
}

TEST(OpsPage, FailuresAndMissingCasesAreShown) {
  const std::string cut = replaced(headText(), R"("started")", R"("planned":{"cpu":4},"started")");
  const std::string page =
      renderOpsPage(tableOf(cut + CaseText{.status = "fail", .margin = R"("nan")"}.text() + CaseText{}.text()));
  expectHas(page, "| opkit/vector (some failed) | nan |");
  expectHas(page, "**INCOMPLETE: 2 of 4 planned cases");
}

TEST(OpsPage, OnlyRunsWithTheOptionsOfTheFirstCount) {
  const std::string masked = headText("b", "check --mask no-fp16") + CaseText{.margin = "0.9", .run = "b"}.text();
  EXPECT_EQ(renderOpsPage(tableOf(goodText() + masked)), renderOpsPage(tableOf(goodText())));
  expectHas(renderOpsPage(tableOf(masked + goodText())), "| --mask no-fp16 |");
}

TEST(OpsPage, SurvivesTheRoundTrip) {
  const OpRegistry registry = registryOf({{}, kSum});
  const OpsTable run = tableOf(goodText()), page = parsed(renderOpsPage(run));
  EXPECT_EQ(compareWithBuild(page, tableOfBuild(registry, kBackends)).lines, Lines());
  EXPECT_EQ(compareWithRun(page, run).lines, Lines());
  EXPECT_EQ(compareWithRun(page, run).notes, Lines());
  EXPECT_EQ(page.operators.at("Wave").kernels("vulkan"), (std::set<std::string>{"opkit", "opkit/image"}));
}

TEST(OpsPage, AParsedPageIsWrittenAsItWas) {
  const std::string cut = replaced(goodText(), R"("started")", R"("planned":{"cpu":40},"started")");
  for (const std::string& text : {goodText(), cut}) {
    const std::string page = renderOpsPage(tableOf(text));
    EXPECT_EQ(renderOpsPage(parsed(page)), page);
  }
}

/// The good page, updated by a run.
Result<std::string> updatedBy(const std::string& text, const OpRegistry& registry = registryOf({{}, kSum})) {
  OPKIT_ASSIGN(const OpsTable table,
               updatedOpsTable(parsed(renderOpsPage(tableOf(goodText()))), tableOf(text, registry)));
  return renderOpsPage(table);
}
/// A run of Total on both backends.
std::string totalText() {
  std::string text = headText("a", "check --op Total") + CaseText{.op = "Total", .kernel = ""}.text();
  text += CaseText{.op = "Total", .backend = "vulkan", .kernel = "", .margin = "0.75"}.text();
  return text + CaseText{.op = "Total",
                         .backend = "vulkan",
                         .dtype = "f64",
                         .kernel = "",
                         .status = "unsupported",
                         .reason = "Total: no f64"}
                    .text();
}

TEST(OpsPage, AnUpdateChangesTheRowsOfTheRunsOperators) {
  const std::string page = renderOpsPage(tableOf(goodText()));
  const auto updated = updatedBy(totalText());
  ASSERT_TRUE(updated) << updated.error().message();
  std::string expected =
      replaced(page, "| [Total](../ops/totals/totals.md) | Sum | f32, f64 | – |  |  | – |  |  |\n",
               "| [Total](../ops/totals/totals.md) | Sum | f32 | opkit | 0.25 |  | opkit | 0.75 |  |\n"
               "|  |  | f64 | – |  |  | refused |  |  |\n");
  expected = replaced(expected, "| vulkan | f64 | the kernel",
                      "| vulkan | f64 | no f64 | all | Total |\n| vulkan | f64 | the kernel");
  expected =
      replaced(expected, "| 2026-01-31 |\n",
               "| 2026-01-31 |\n| `op-harness check --op Total`: the rows of Total | 0123456789ab | 2026-01-31 |\n");
  for (const char* backend : {"cpu", "vulkan"})
    expected = replaced(expected, fmt::format("| {} | opkit | Total |\n", backend), "");
  EXPECT_EQ(*updated, expected);
}

TEST(OpsPage, AnUpdateKeepsARateOfTheSameKernels) {
  const auto rowOf = [](const std::string& kernel) {
    const auto page = updatedBy(headText("a", "check --op Wave") + CaseText{.kernel = kernel, .margin = "0.5"}.text() +
                                CaseText{.backend = "vulkan", .kernel = "", .margin = "0.5"}.text());
    const size_t begin = page ? page->find("| [Wave]") : std::string::npos;
    return begin == std::string::npos ? page.error().message() : page->substr(begin, page->find('\n', begin) - begin);
  };
  expectHas(rowOf("scalar"), "| opkit/scalar | 0.5 |  | opkit | 0.5 |  |");
  const auto both = updatedBy(goodText());
  ASSERT_TRUE(both);
  expectHas(*both, "| 0.25 | 8 |");
  const auto untimed = updatedBy(headText() + CaseText{}.text() + CaseText{.kernel = "scalar"}.text() +
                                 CaseText{.backend = "vulkan", .kernel = ""}.text());
  ASSERT_TRUE(untimed);
  expectHas(*untimed, "| opkit/scalar, opkit/vector | 0.25 | 8 |");
  // Also of dtypes that were timed, though no case has them.
  const std::string timed = totalText() + CaseText{.op = "Total",
                                                   .dtype = "f64",
                                                   .kind = "bench",
                                                   .more = R"(,"bytes":1e6,"times":{"executeWall":{"median":1e6}})"}
                                              .text();
  const auto page = updatedOpsTable(parsed(renderOpsPage(tableOf(timed))), tableOf(totalText()));
  ASSERT_TRUE(page) << page.error().message();
  expectHas(renderOpsPage(*page), "|  |  | f64 | – |  | 1 | refused |  |  |");
}

TEST(OpsPage, AnUpdateNamesAnotherDeviceAndDropsOperatorsOfOtherBuilds) {
  const auto other = updatedBy(replaced(totalText(), "CPU (AVX3)", "CPU (AVX2)"));
  ASSERT_TRUE(other) << other.error().message();
  expectHas(*other, "`op-harness check --op Total`, on CPU (AVX2): the rows of Total |");
  const auto alone = updatedBy(totalText(), registryOf({kSum}));
  ASSERT_TRUE(alone) << alone.error().message();
  EXPECT_EQ(alone->find("Wave"), std::string::npos) << *alone;
}

TEST(OpsPage, AnUpdateOfAnotherConfigurationIsRefused) {
  const auto errorOf = [](const std::string& text) {
    const auto page = updatedBy(text);
    return page ? "none" : page.error().message();
  };
  EXPECT_EQ(errorOf(totalText()), "none");
  EXPECT_EQ(errorOf(headText() + CaseText{.op = "Total", .kernel = ""}.text()),
            "the page shows cpu, vulkan (software), the results have cpu");
  EXPECT_EQ(errorOf(replaced(totalText(), R"(,"software":true)", "")),
            "the page shows cpu, vulkan (software), the results have cpu, vulkan");
  EXPECT_EQ(errorOf(replaced(totalText(), "--op Total", "--simd AVX2")),
            "the page shows the device options '', the results have '--simd AVX2'");
  expectHas(errorOf(replaced(totalText(), R"("started")", R"("planned":{"cpu":4},"started")")),
            "the results do not hold all cases: INCOMPLETE: ");
}

TEST(OpsPage, NamesOfDTypesSurviveTheRoundTrip) {
  const std::vector<std::string> all = words::order();
  EXPECT_EQ(words::join(all), "floats, bool, integers, bf16, f8, f4e2m1, i4, i2, u4, u2, string, sequence, optional");
  EXPECT_EQ(words::split(words::join(all)), all);
  const std::vector<std::string> few = words::sorted({"u8", "i64", "f16", "bool"});
  EXPECT_EQ(words::join(few), "f16, bool, i64, u8");
  EXPECT_EQ(words::split(words::join(few)), few);
  EXPECT_EQ(words::join(words::sorted({"string", "u4", "f8e8m0", "f16", "bf16"})), "f16, bf16, f8e8m0, u4, string");
  EXPECT_EQ(words::join({}), "");
  EXPECT_EQ(words::split(""), Lines());
}

/// The lines between the page of the good run and a build with these cards.
std::vector<std::string> linesWith(const std::vector<CardText>& cards,
                                   const std::vector<std::string>& backends = kBackends) {
  return compareWithBuild(parsed(renderOpsPage(tableOf(goodText()))), tableOfBuild(registryOf(cards), backends)).lines;
}

TEST(OpsPage, IsStaleIfTheBuildChanged) {
  EXPECT_EQ(linesWith({{}, kSum}), Lines());
  EXPECT_EQ(linesWith({{.cpu = {"wide", "scalar"}}, kSum}),
            (Lines{"Wave on cpu: this build has the kernel opkit/wide, the page has not",
                   "Wave on cpu: the page has the kernel opkit/vector, this build has not"}));
  EXPECT_EQ(linesWith({{.vulkan = {""}}, kSum}),
            (Lines{"Wave on vulkan: the page has the kernel opkit/image, this build has not"}));
  EXPECT_EQ(linesWith({{.numeric = NumericClass::Exact}, kSum}),
            (Lines{"Wave: the error class is Exact, the page has Transcendental"}));
  EXPECT_EQ(linesWith({{.dtypes = kFloats}, kSum}), (Lines{"Wave: the dtypes are floats, the page has f32, f64"}));
  EXPECT_EQ(linesWith({{.folder = "sea"}, kSum}), (Lines{"Wave: the folder is sea, the page has waves"}));
  EXPECT_EQ(linesWith({{}, kSum, {.type = "New"}}), (Lines{"New: in this build, not in the page"}));
  EXPECT_EQ(linesWith({{}}), (Lines{"Total: in the page, not in this build"}));
  EXPECT_EQ(linesWith({{}, kSum}, {"cpu", "metal", "vulkan"}),
            (Lines{"backend metal: in this build, not in the page"}));
}

TEST(OpsPage, IsStaleIfARowIsGone) {
  const std::string page = renderOpsPage(tableOf(goodText()));
  const OpsTable build = tableOfBuild(registryOf({{}, kSum}), kBackends);
  const auto linesOf = [&](const std::string& text) { return compareWithBuild(parsed(text), build).lines; };
  EXPECT_EQ(linesOf(replaced(page, "|  |  | f64 | opkit/scalar | 0.5 |  | refused |  |  |\n", "")),
            Lines{"Wave: the dtypes are f32, f64, the page has f32"});
  const std::string row = "| [Total](../ops/totals/totals.md) | Sum | f32, f64 | – |  |  | – |  |  |\n";
  const auto unknown = parseOpsPage(replaced(page, row, ""));
  ASSERT_FALSE(unknown);
  expectHas(unknown.error().message(), "operator Total has no row above");
  std::string gone = replaced(page, row, "");
  for (const char* backend : {"cpu", "vulkan"})
    gone = replaced(gone, fmt::format("| {} | opkit | Total |\n", backend), "");
  EXPECT_EQ(linesOf(gone), Lines{"Total: in this build, not in the page"});
}

TEST(OpsPage, WhatTheBuildLacksIsANote) {
  const OpRegistry both =
      registryOf({{}, {.type = "Total", .cpu = {"", "jit"}, .vulkan = {""}, .folder = "totals", .provider = "onednn"}});
  const OpsTable page = parsed(renderOpsPage(tableOf(goodText(), both)));
  const OpsDifferences found =
      compareWithBuild(page, tableOfBuild(registryOf({{}, {.type = "Total", .cpu = {}, .folder = "totals"}}), {"cpu"}));
  EXPECT_EQ(found.lines, Lines());
  EXPECT_EQ(found.notes, (Lines{"backend vulkan is not in this build: not compared",
                                "provider onednn is not in this build: its kernels are not compared"}));
}

/// The lines between the page of the good run and another run.
std::vector<std::string> linesAfter(const std::string& run) {
  return compareWithRun(parsed(renderOpsPage(tableOf(goodText()))), tableOf(run)).lines;
}

TEST(OpsPage, IsStaleIfARunShowsAnotherThing) {
  const std::string head = headText();
  EXPECT_EQ(linesAfter(head + CaseText{.dtype = "f64", .kernel = "scalar", .margin = "0.501"}.text()), Lines());
  EXPECT_EQ(linesAfter(head + CaseText{.dtype = "f64", .kernel = "scalar", .margin = "0.52"}.text()),
            (Lines{"Wave f64 on cpu: the margin is 0.52, the page has 0.5"}));
  EXPECT_EQ(linesAfter(head + CaseText{.dtype = "f64", .kernel = "vector", .margin = "0.5"}.text()),
            (Lines{"Wave f64 on cpu: kernels opkit/vector ran, the page has opkit/scalar"}));
  EXPECT_EQ(linesAfter(head + CaseText{.dtype = "f64", .kernel = "scalar", .status = "fail", .margin = "0.5"}.text()),
            (Lines{"Wave f64 on cpu: 1 cases failed"}));
  EXPECT_EQ(linesAfter(head + CaseText{.op = "Total", .kernel = ""}.text()),
            (Lines{"Total f32 on cpu: cases ran, the page says that there are none"}));
  EXPECT_EQ(linesAfter(head + CaseText{.backend = "vulkan", .kernel = "", .margin = "0.375"}.text()),
            (Lines{"Wave f32 on vulkan: no case was refused, the page says some"}));
}

TEST(OpsPage, MarginsOfAnotherDeviceMayDifferALittle) {
  const auto lines = [](const std::string& head, const std::string& margin) {
    return linesAfter(head + CaseText{.dtype = "f64", .kernel = "scalar", .margin = margin}.text());
  };
  const std::string other = headText("a", "check", "CPU (AVX2)"), option = headText("a", "check --simd AVX2"),
                    debug = replaced(headText(), "Release", "Debug");
  for (const std::string& head : {other, option, debug}) {
    EXPECT_EQ(lines(head, "0.31"), Lines());
    EXPECT_EQ(lines(head, "0.69"), Lines());
    EXPECT_EQ(lines(head, "0.29"), Lines{"Wave f64 on cpu: the margin is 0.29, the page has 0.5"});
    EXPECT_EQ(lines(head, "0.71"), Lines{"Wave f64 on cpu: the margin is 0.71, the page has 0.5"});
    EXPECT_EQ(lines(head, "0"), (Lines{"Wave f64 on cpu: the margin is 0, the page has 0.5"}));
    EXPECT_EQ(lines(head, R"("nan")"), (Lines{"Wave f64 on cpu: the margin is nan, the page has 0.5"}));
  }
  // Kernels of another processor are compared, those of a GPU with those of a software device are not.
  EXPECT_EQ(linesAfter(other + CaseText{.dtype = "f64", .kernel = "vector", .margin = "0.5"}.text()),
            Lines{"Wave f64 on cpu: kernels opkit/vector ran, the page has opkit/scalar"});
  const std::string gpu = replaced(replaced(headText(), "llvmpipe", "H100"), R"(,"software":true)", "");
  const std::string text = gpu + CaseText{.backend = "vulkan", .kernel = "image", .margin = "0.4"}.text();
  EXPECT_EQ(linesAfter(text), Lines());
  EXPECT_EQ(
      compareWithRun(parsed(renderOpsPage(tableOf(goodText()))), tableOf(text)).notes,
      (Lines{"vulkan: the run's device is H100, Mesa 22, the page's llvmpipe, Mesa 22: its cells are not compared"}));
}

TEST(OpsPage, ResultsOfTwoDevicesOrOfAnotherBuildAreRefused) {
  const auto errorOf = [](const std::string& text) {
    const auto table = tableOfResults(resultsOf(text), registryOf({{}, kSum}));
    return table ? "none" : table.error().message();
  };
  EXPECT_EQ(errorOf(goodText()), "none");
  expectHas(errorOf(goodText() + headText("b", "check", "CPU 2") + CaseText{.run = "b"}.text()),
            "results of two devices for backend cpu, expected one: CPU (AVX3), opkit and CPU 2, opkit");
  EXPECT_EQ(
      errorOf(goodText() + headText("b", "shaders --access", "CPU 2") + CaseText{.kind = "access", .run = "b"}.text()),
      "none");
  expectHas(errorOf(headText() + CaseText{.op = "Gone"}.text()), "operator 'Gone' is not in this build");
  EXPECT_EQ(errorOf(headText() + CaseText{.kind = "bench"}.text()),
            "expected results of `op-harness check --json`, found none");
}

TEST(OpsPage, APageOfAnotherFormIsRefusedWithItsLine) {
  const std::string page = renderOpsPage(tableOf(goodText()));
  const auto errorOf = [](const std::string& text) {
    const auto table = parseOpsPage(text);
    return table ? "none" : table.error().message();
  };
  EXPECT_EQ(errorOf(page), "none");
  EXPECT_TRUE(errorOf(replaced(page, "[Wave]", "[Total]")).starts_with("line "));
  const std::string none = "expected a page of `op-report ops`, found no table of operators";
  for (const std::string& text : {std::string(), std::string("# Operators\n"), std::string("| a |\n|---|\n| b |\n")})
    EXPECT_EQ(errorOf(text), none);
  expectHas(errorOf(replaced(page, "| opkit/scalar | 0.5 |  |", "| opkit/scalar | 0.5 |")),
            ": expected 9 cells, found 8");
  expectHas(errorOf(replaced(page, "| margin | rate, GB/s | vulkan (software) | margin | rate, GB/s |",
                             "| margin | rate, GB/s |")),
            ": expected three columns for each of 2 backends, found 6 cells");
  expectHas(errorOf(replaced(page, "[Wave]", "[Total]")), "operator Total is there twice");
  expectHas(errorOf(replaced(page, "[Total](../ops/totals/totals.md)", "")), "expected the name of an operator");
  expectHas(errorOf(replaced(page, "| opkit/image | Wave |", "| opkit/image | Wade |")), "operator Wade has no row");
  expectHas(errorOf(replaced(page, "| some | Wave (1 of 2) |", "| 1 of 2 | Wave |")),
            "expected all or some refused cases, found '1 of 2'");
  expectHas(errorOf(replaced(page, "Wave (1 of 2)", "Wave (2 of 2)")), "expected an operator like 'Pow (2 of 9)'");
  expectHas(errorOf(replaced(page, "| 8 |", "| 8 MB/s |")), "expected a rate like");
}

TEST(OpsPage, ErrorClassesHaveTheNamesOfTheirPage) {
  std::ifstream stream(OPKIT_SOURCE_DIR "/docs/numerics.md");
  const std::string numerics{std::istreambuf_iterator<char>(stream), {}};
  for (const NumericClass each :
       {NumericClass::Exact, NumericClass::OneRounding, NumericClass::FewRoundings, NumericClass::Products,
        NumericClass::Sum, NumericClass::Softmax, NumericClass::Norm, NumericClass::Transcendental, NumericClass::Cast})
    expectHas(numerics, fmt::format("`{}`", nameOf(each)));
}

class OpsCommand : public OpReportTest {
 protected:
  std::string whole(const std::string& text) { return file(text + endText(text)); }
  /// Results of operators that the program has.
  std::string results(const std::string& status = "pass") {
    return whole(headText() +
                 CaseText{.op = "Relu", .dtype = "f32", .status = status, .margin = "0", .id = "Relu/f32[3]"}.text());
  }
  const std::string page_ = folder_ + "/ops.md";
};

TEST_F(OpsCommand, WritesAPageThatAgreesWithItsBuildAndItsRun) {
  std::string said;
  const std::string run1 = results();
  ASSERT_EQ(run("ops " + run1 + " --output " + page_, &said), 0) << said;
  expectHas(contents(page_), "| [Relu](../ops/unary/unary.md) | Exact | f32 | opkit/vector | 0 |");
  ASSERT_EQ(run("ops " + run1, &said), 0);
  EXPECT_EQ(said, contents(page_));
  EXPECT_EQ(run("ops " + run1 + " --check " + page_, &said), OPKIT_TESTS_VULKAN ? 1 : 0) << said;
  if (OPKIT_TESTS_VULKAN) {
    expectHas(said, "backend vulkan: in this build, not in the page\n");
  }
}

TEST_F(OpsCommand, UpdatesAPageInPlace) {
  std::string said;
  const std::string run1 = results();
  ASSERT_EQ(run("ops " + run1 + " --output " + page_, &said), 0) << said;
  const std::string before = contents(page_);
  ASSERT_EQ(run("ops " + run1 + " --update " + page_, &said), 0) << said;
  EXPECT_EQ(contents(page_),
            replaced(before, "2026-01-31 |\n",
                     "2026-01-31 |\n| `op-harness check --written`: the rows of Relu | 0123456789ab | 2026-01-31 |\n"));
  const std::string after = contents(page_);
  EXPECT_EQ(run("ops " + results("unsupported") + " --update " + page_, &said), 3) << said;
  EXPECT_EQ(contents(page_), after);
}

TEST_F(OpsCommand, BadInputIsOneLine) {
  std::string said;
  const auto expectLine = [&](const std::string& arguments, int code, const std::string& part) {
    EXPECT_EQ(run("ops " + arguments, &said), code) << arguments << "\n" << said;
    expectHas(said, part);
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    EXPECT_FALSE(std::filesystem::exists(page_)) << arguments;
  };
  const std::string output = " --output " + page_, noCheck = whole(headText() + CaseText{.kind = "bench"}.text());
  expectLine("", 2, "ops: expected result files or --check; got neither");
  expectLine(nowhere() + output, 2, nowhere() + ": cannot be read: Not a directory; expected a file of JSON lines");
  expectLine(file("{\"record\":\"ca") + output, 2, ":1: expected a line of JSON");
  expectLine(file("") + output, 2, "expected results of `op-harness check --json`, found none");
  expectLine(noCheck + output, 2, "expected results of `op-harness check --json`, found none");
  expectLine(results("unsupported") + output, 3, "1 recorded cases, no operator was executed: nothing to report");
  expectLine(results() + " --output " + nowhere("a/b.md"), 2, nowhere("a/b.md"));
  expectLine("--check " + nowhere("ops.md"), 2, nowhere("ops.md"));
  expectLine("--check " + file("# Operators\n"), 2, "found no table of operators");
  expectLine(results() + " --update " + nowhere("ops.md"), 2, nowhere("ops.md"));
  expectLine(results() + output + " --update " + file(""), 2, "--update");
  expectLine("--update " + file(""), 2, "ops: expected result files or --check; got neither");
  expectLine(results() + output + " --check " + file(""), 2, "--check");
}

}  // namespace
}  // namespace opkit::reports
