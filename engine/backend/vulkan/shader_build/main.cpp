// opkit-shader-build: compiles one .comp file into a C++ header and source. Run by cmake/opkit_shaders.cmake.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "engine/backend/vulkan/shader_build/build_shader.h"

namespace {

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) fmt::print(stderr, "{}: error: cannot be written\n", path);
  return static_cast<bool>(file);
}

std::string depfileText(const std::string& target, const std::set<std::string>& dependencies) {
  std::string text = target + ":";
  for (const std::string& dependency : dependencies) {
    text += " \\\n  ";
    for (const char c : dependency) text += c == ' ' ? "\\ " : std::string(1, c);
  }
  return text + "\n";
}

}  // namespace

int main(int argc, char** argv) {
  opkit::shader_build::Request request;
  std::string header;
  std::string source;
  std::string depfile;
  CLI::App app("Compiles every variant of a compute shader and writes the C++ type that dispatches it.");
  app.add_option("shader", request.path, "the .comp file")->required();
  app.add_option("--name", request.name, "folder and stem, softmax/softmax")->required();
  app.add_option("--include", request.includes, "folders searched by #include");
  app.add_option("--header", header, "C++ header to write")->required();
  app.add_option("--source", source, "C++ source to write")->required();
  app.add_option("--depfile", depfile, "Make-style dependencies to write")->required();
  CLI11_PARSE(app, argc, argv);

  const auto output = opkit::shader_build::buildShader(request);
  if (!output) {
    fmt::print(stderr, "{}\n", output.error().message());
    return 1;
  }
  const bool written = write(header, output->header) && write(source, output->source) &&
                       write(depfile, depfileText(header, output->dependencies));
  return written ? 0 : 1;
}
