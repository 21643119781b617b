// Part of every test program. Caches on disk are off unless a test or its user names a folder. testing::TempDir() is a
// folder of this process, removed at its end, because tests run side by side.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace {

const int kCacheIsOff = setenv("OPKIT_CACHE_DIR", "off", 0);

class OwnFolder {
 public:
  OwnFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "opkit_test.XXXXXX").string();
    if (!mkdtemp(path.data())) return;
    path_ = path;
    setenv("TEST_TMPDIR", (path_ + "/").c_str(), 1);
  }
  ~OwnFolder() {
    std::error_code ignored;
    if (!path_.empty() && getpid() == owner_) std::filesystem::remove_all(path_, ignored);  // a fork leaves it
  }

 private:
  pid_t owner_ = getpid();
  std::string path_;
};

const OwnFolder kOwnFolder;

}  // namespace
