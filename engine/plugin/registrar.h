// opkit_registrar: the first phase of registration. Collects what a plugin's `load` announces, copies it, checks
// each piece, and remembers every mistake; nothing is registered here.
#pragma once

#include <string>
#include <vector>

#include "engine/plugin/contents.h"

/// The opaque struct of the C ABI.
struct opkit_registrar {
 public:
  explicit opkit_registrar(opkit::plugin::Contents& contents) : contents_(contents) {}

  opkit_code addOperator(const opkit_operator* op);
  opkit_code addKernel(const opkit_operator_kernel* kernel);
  opkit_code addBackend(const opkit_backend* backend);
  opkit_code addPass(const opkit_pass* pass);
  /// Refuses the plugin for what was thrown while a piece was copied; allocates nothing for an empty message.
  opkit_code refuse(const char* what, opkit_code code, const std::string& message);
  /// OK, or every mistake in one line.
  opkit::Status verdict() const;

 private:
  opkit_code note(const std::string& what, const opkit::Status& status);

  opkit::plugin::Contents& contents_;
  std::vector<std::string> mistakes_;
  bool outOfMemory_ = false;
};

namespace opkit::plugin {

/// A copy of a struct of the ABI, zero where the plugin's is shorter. InvalidArgument for a foreign version or size.
template <class T>
Result<T> copyStruct(const T* from, const char* what);

}  // namespace opkit::plugin
