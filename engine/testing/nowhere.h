// nowhere: a path at which nothing exists and nothing can be created, for any user: a file takes the place of its
// folder. Tests only.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace opkit {

inline std::string nowhere(const std::string& name = "x") {
  const auto file = std::filesystem::temp_directory_path() / ("opkit_nowhere." + std::to_string(::getuid()));
  if (!std::filesystem::is_regular_file(file)) std::ofstream(file) << "a file, so that no folder can be here";
  return (file / name).string();
}

}  // namespace opkit
