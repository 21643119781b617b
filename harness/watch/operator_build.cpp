#include "harness/watch/operator_build.h"

#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/backend/backend_registry.h"
#include "engine/base/child_process.h"
#include "engine/base/json_text.h"
#include "engine/base/where.h"
#include "engine/graph/pass.h"
#include "engine/model/model.h"
#include "harness/run/build_facts.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRegister = "opkitWatchRegister";
constexpr size_t kMostMessages = 4000;  // characters of a compiler's output

/// Commands of the build by source, as far as a source has a command of its own.
using Commands = std::map<std::string, std::string>;

Result<Commands> commandsOf(const std::string& build) {
  OPKIT_ASSIGN(const std::vector<uint8_t> bytes, readFile(build + "/compile_commands.json"));
  const nlohmann::json entries = parseJson(bytes);
  Commands commands;
  if (!entries.is_array()) return Status::corrupt("{}/compile_commands.json is not a list", build);
  for (const nlohmann::json& entry : entries) commands.emplace(textField(entry, "file"), textField(entry, "command"));
  return commands;
}

/// Of a command of the build: the compiler, and definitions, include folders and the language, which others share.
struct Flags {
  std::string compiler, shared;
};

Flags flagsOf(const std::string& command) {
  Flags flags;
  std::istringstream words(command);
  words >> flags.compiler;
  for (std::string word; words >> word;) {
    const bool takesNext = word == "-isystem";
    if (!takesNext && !word.starts_with("-D") && !word.starts_with("-I") && !word.starts_with("-std=")) continue;
    flags.shared += " " + word;
    if (std::string next; takesNext && words >> next) flags.shared += " " + next;
  }
  return flags;
}

/// A path in a Ninja file.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '$' || c == ' ' || c == ':' ? std::string("$") + c : std::string(1, c);
  return text;
}

Status write(const std::string& path, const std::string& text) {
  if (const auto old = readFile(path); old && std::string(old->begin(), old->end()) == text) return Status::ok();
  return writeFile(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

/// The C++ of a folder that the build compiles too: sources of optional libraries only where it has them.
std::vector<std::string> sourcesIn(const std::string& root, const std::string& configured, const std::string& folder,
                                   const Commands& commands) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::path(root) / "ops" / folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".cpp") || name.ends_with("_test.cpp") || isOutsideLibrary(name)) continue;
    const bool isOptional = name.ends_with("_onednn.cpp") || name.ends_with("_codec.cpp");
    if (isOptional && !commands.contains(fmt::format("{}/ops/{}/{}", configured, folder, name))) continue;
    paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

/// A function that makes the calls of the build's list of operators (generated/ops/builtin_ops.cpp) for these folders,
/// but for those that add passes.
Result<std::string> registrationOf(const std::string& build, const std::set<std::string>& folders) {
  OPKIT_ASSIGN(const std::vector<uint8_t> bytes, readFile(build + "/generated/ops/builtin_ops.cpp"));
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  std::string declarations, calls, folder;
  bool isDeclared = false;
  for (std::string line; std::getline(lines, line) && line != "OnnxRules makeOnnxRules() {";) {
    const std::string_view begins = "  registry.setFolder(\"";
    isDeclared = isDeclared || line == "namespace opkit::ops {";
    if (!isDeclared) declarations += line + "\n";
    if (line.starts_with(begins)) folder = line.substr(begins.size(), line.find('"', begins.size()) - begins.size());
    const bool isCall = line.starts_with("  ") && line.find("::addPasses(") == std::string::npos;
    const bool isOfFolder = line.starts_with(begins) || line.ends_with("(registry);");
    if (isCall && isOfFolder && folders.contains(folder)) calls += line + "\n";
  }
  return fmt::format(
      "{}namespace opkit::ops {{\nvoid addWatched(OpRegistry& registry) {{\n{}}}\n}}  // namespace opkit::ops\n"
      "extern \"C\" void {}(opkit::OpRegistry& registry) {{ opkit::ops::addWatched(registry); }}\n",
      declarations, calls, kRegister);
}

}  // namespace

Result<OperatorBuild> OperatorBuild::create(const std::string& root, const std::set<std::string>& folders) {
  const std::string build = folderAround("compile_commands.json", "").string();
  if (build.empty()) return Status::unsupported("this program lies in no build folder with compile_commands.json");
  OperatorBuild made(fs::absolute(root).string(), folders);
  made.work_ = fmt::format("{}/watch/{}", build, fmt::join(folders, "+"));
  std::error_code error;
  fs::create_directories(made.work_, error);
  if (error) return Status::invalidArgument("cannot make folder '{}': {}", made.work_, error.message());
  OPKIT_TRY(made.writeFiles(build));
  return made;
}

Status OperatorBuild::writeFiles(const std::string& build) const {
  OPKIT_ASSIGN(const Commands commands, commandsOf(build));
  const std::string configured = kBuildFacts.sourceFolder;
  const auto any = std::ranges::find_if(commands, [&](const auto& entry) {
    return entry.first.starts_with(configured + "/ops/") && entry.first.ends_with("_cpu.cpp");
  });
  if (any == commands.end()) return Status::unsupported("{}/compile_commands.json has no kernel of the CPU", build);
  const auto flagsFor = [&](const std::string& path) {
    const auto own = commands.find(configured + path.substr(root_.size()));
    return flagsOf(own == commands.end() ? any->second : own->second);
  };
  const Flags common = flagsOf(any->second);
  // Without contraction, as in the build, whose plain code has no fused instructions.
  std::string text = fmt::format(
      "ninja_required_version = 1.5\n"
      "options = -fPIC -O1 -march=native -ffp-contract=off -DHWY_COMPILE_ONLY_STATIC -I{}\n"
      "rule header\n  command = {} -x c++-header $flags $options $in -o $out\n"
      "rule object\n  command = {} $flags $options $header -MMD -MF $out.d -c $in -o $out\n  depfile = $out.d\n"
      "  deps = gcc\n"
      "rule library\n  command = {} -shared -Wl,-Bsymbolic $in -o $out\n"
      "build pch.h.gch: header pch.h\n  flags ={}\n",
      root_, common.compiler, common.compiler, common.compiler, common.shared);
  std::string objects;
  const auto addObject = [&](const std::string& path, const std::string& object, const std::string& flags) {
    // A precompiled header hides vectors of other instruction sets from GCC 12 (opkit_wide_sources).
    const bool isWide = path.ends_with("_wide.cpp");
    text += fmt::format("build {}: object {}{}\n  flags ={}\n  header ={}\n", object, escaped(path),
                        isWide ? "" : " | pch.h.gch", flags, isWide ? "" : " -include pch.h");
    objects += " " + object;
  };
  for (const std::string& folder : folders_) {
    for (const std::string& path : sourcesIn(root_, configured, folder, commands))
      addObject(path, fmt::format("{}.{}.o", folder, fs::path(path).stem().string()), flagsFor(path).shared);
  }
  addObject("register.cpp", "register.o", common.shared);
  text += fmt::format("build operators.so: library{}\n", objects);
  OPKIT_ASSIGN(const std::vector<uint8_t> header, readFile(build + "/CMakeFiles/opkit_pch.dir/cmake_pch.hxx"));
  OPKIT_TRY(write(work_ + "/pch.h", {header.begin(), header.end()}));
  OPKIT_ASSIGN(const std::string registration, registrationOf(build, folders_));
  OPKIT_TRY(write(work_ + "/register.cpp", registration));
  return write(work_ + "/build.ninja", text);
}

Result<std::string> OperatorBuild::run() const {
  OPKIT_TRY(writeFiles(folderAround("compile_commands.json", "").string()));  // a source may be new
  const std::string command = fmt::format("exec ninja -C {} operators.so 2>&1", shellQuoted(work_));
  OPKIT_ASSIGN(const ChildRun ran, runChild({"sh", "-c", command}));
  if (ran.exitCode == 0) return work_ + "/operators.so";
  std::string messages, last;
  std::istringstream lines(ran.output);
  for (std::string line; std::getline(lines, line);)  // without Ninja's progress and commands
    if (!line.starts_with("[") && !line.starts_with("ninja: ") && !line.starts_with("FAILED: ") &&
        line.find(" -DHWY_COMPILE_ONLY_STATIC ") == std::string::npos)
      messages += line + "\n";
  return Status::invalidArgument("{}", messages.empty() ? ran.output : messages.substr(0, kMostMessages));
}

Result<OpRegistry> withLibrary(const OpRegistry& registry, const std::set<std::string>& folders,
                               const std::string& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return Status::invalidArgument("{}; build op-harness", ::dlerror());
  const auto addOwn = reinterpret_cast<void (*)(OpRegistry&)>(::dlsym(handle, kRegister));
  if (!addOwn) return Status::invalidArgument("{}: {} is missing", library, kRegister);
  OpRegistry copy;
  for (const OpDef* def : registry.all()) {
    if (folders.contains(def->folder)) continue;
    copy.setFolder(def->folder);
    copy.add(*def);
    for (const BackendKind& backend : backendKinds())
      for (const Creator& creator : registry.creators(backend.name, def->type))
        copy.addCreator(backend.name, def->type, creator);
  }
  addOwn(copy);
  for (const auto& pass : registry.passes()) copy.addPass(*pass);
  copy.setConversion(registry.conversion());
  return copy;
}

}  // namespace opkit::harness
