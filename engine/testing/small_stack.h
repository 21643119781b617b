// onSmallStack: runs a body on a thread with a stack of 512 KiB, half of what the smallest usual threads have. What a
// file nests as deep as the readers allow must fit into it.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

namespace opkit::test {

inline void onSmallStack(std::function<void()> body, size_t bytes = 512 << 10) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
  bytes *= 8;  // frames without optimisation, or with red zones
#endif
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  const auto start = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, &body), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  ASSERT_EQ(pthread_attr_destroy(&attributes), 0);
}

}  // namespace opkit::test
