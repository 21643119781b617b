// The whole shader build of one .comp file, as the command-line tool and the tests run it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::shader_build {

struct Request {
  std::string path;                   // the .comp file
  std::string name;                   // "softmax/softmax": folder and stem below shaders/
  std::vector<std::string> includes;  // folders searched by #include
};

struct Output {
  std::string header;
  std::string source;
  std::set<std::string> dependencies;  // every file that was read
};

/// InvalidArgument holds compiler-style lines, "file:line: error: ...".
Result<Output> buildShader(const Request& request);

}  // namespace opkit::shader_build
