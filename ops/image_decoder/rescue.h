// Rescue: calls C code that reports errors by a callback which must not return, as libjpeg and libpng do.
#pragma once

#include <csetjmp>

namespace opkit::ops::image_decoder {

class Rescue {
 public:
  /// Whether `work` came to its end. REQUIRES that `work` owns nothing: its objects are not destroyed.
  template <class Work>
  bool completes(const Work& work) {
    if (setjmp(back_)) return false;
    work();
    return true;
  }
  /// Ends the work of completes().
  [[noreturn]] void giveUp() { std::longjmp(back_, 1); }

 private:
  std::jmp_buf back_;
};

}  // namespace opkit::ops::image_decoder
