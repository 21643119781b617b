#include "engine/base/float_environment.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <stdexcept>
#include <thread>

#include "engine/base/guard.h"
#include "engine/base/thread_pool.h"
#include "engine/testing/float_modes.h"

namespace opkit {
namespace {

/// No results of the compiler's.
float quotient(float a, float b) {
  volatile float x = a, y = b;
  return x / y;
}

long double longQuotient(long double a, long double b) {
  volatile long double x = a, y = b;
  return x / y;
}

TEST(FloatEnvironment, IsThatOfResultsAndThenTheCallersAgain) {
  const float third = quotient(1, 3), denormal = quotient(1e-38f, 4);
  const long double longThird = longQuotient(1, 3);
  ASSERT_GT(denormal, 0);
  for (const FloatMode& mode : floatModes()) {
    const ModeScope scope(mode);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_OVERFLOW);
    const FloatState before = FloatState::now();
    {
      const FloatEnvironment environment;
      EXPECT_EQ(std::fegetround(), FE_TONEAREST) << mode.name;
      EXPECT_EQ(quotient(1, 3), third) << mode.name;
      EXPECT_EQ(longQuotient(1, 3), longThird) << mode.name;
      EXPECT_EQ(quotient(1e-38f, 4), denormal) << mode.name;
      EXPECT_GT(quotient(1, 0), 1) << mode.name;  // raises a signal unless that is masked
      std::fesetround(FE_DOWNWARD);               // as a plugin might leave it
    }
    EXPECT_EQ(FloatState::now(), before) << mode.name;
  }
}

TEST(FloatEnvironment, IsThatOfGuardedBodiesThatThrowToo) {
  const float third = quotient(1, 3);
  for (const FloatMode& mode : floatModes()) {
    const ModeScope scope(mode);
    const FloatState before = FloatState::now();
    const Status status = guarded([&]() -> Status {
      EXPECT_EQ(quotient(1, 3), third) << mode.name;
      throw std::runtime_error("no");
    });
    EXPECT_FALSE(status.isOk());
    EXPECT_EQ(FloatState::now(), before) << mode.name;
    EXPECT_EQ(guardedMain("test",
                          [&] {
                            EXPECT_EQ(quotient(1, 3), third) << mode.name;
                            return 0;
                          }),
              0);
    EXPECT_EQ(FloatState::now(), before) << mode.name;
  }
}

/// Threads begin with the environment of the one that makes them.
TEST(FloatEnvironment, IsThatOfThreadsOfAPool) {
  const float third = quotient(1, 3), denormal = quotient(1e-38f, 4);
  for (const FloatMode& mode : floatModes()) {
    const ModeScope scope(mode);
    ThreadPool pool(2);
    std::atomic<bool> isDone{false};
    pool.parallelFor(2, [&](size_t, size_t thread) {
      if (thread == 0) {  // so that the other one takes the second index
        while (!isDone) std::this_thread::yield();
        return;
      }
      const float got = quotient(1, 3), small = quotient(1e-38f, 4);
      isDone = true;
      EXPECT_EQ(got, third) << mode.name;
      EXPECT_EQ(small, denormal) << mode.name;
    });
  }
}

}  // namespace
}  // namespace opkit
