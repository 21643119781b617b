// The part of ONNX Runtime's C API that OpKit calls. The library hands out a table of functions that only grows at its
// end, so a function is known by its position; those here are of version 23. OpKit needs no header of ONNX Runtime, and
// one build takes every library since 1.23. The types of functions are not checked by any compiler: ort_self_test.h
// proves them at load.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/tensor/dtype.h"

namespace opkit::harness::ort {

inline constexpr uint32_t kApiVersion = 23;

// Objects of the library: only pointers are passed.
struct OrtStatus;
struct OrtEnv;
struct OrtSession;
struct OrtSessionOptions;
struct OrtRunOptions;
struct OrtValue;
struct OrtMemoryInfo;
struct OrtTypeAndShape;
struct OrtAllocator;
struct OrtEpDevice;
struct OrtHardwareDevice;

enum OrtCode : int {
  kOrtFail = 1,
  kOrtInvalidArgument = 2,
  kOrtNotImplemented = 9,
  kOrtInvalidGraph = 10,
};
enum OrtLogLevel : int { kLogWarning = 2, kLogFatal = 4 };
enum OrtOptimization : int { kOptimizeNothing = 0 };
enum OrtAllocatorKind : int { kDeviceAllocator = 0 };
enum OrtMemoryKind : int { kDefaultMemory = 0 };
enum OrtValueKind : int { kTensorValue = 1 };
enum OrtHardwareKind : int { kHardwareCpu = 0, kHardwareGpu = 1, kHardwareNpu = 2 };

/// The function "OrtGetApiBase" returns this.
struct OrtApiBase {
  const void* (*getApi)(uint32_t version);  // the table; null: the library is older than the version
  const char* (*versionText)();
};
using GetApiBase = const OrtApiBase* (*)();

/// A position in the table, and the function that is there.
template <class Function>
struct Entry;
template <class Returned, class... Arguments>
struct Entry<Returned(Arguments...)> {
  using Pointer = Returned (*)(Arguments...);
  size_t position;
};
template <class... Arguments>
using Call = Entry<OrtStatus*(Arguments...)>;  // null is success
template <class Owned>
using Release = Entry<void(Owned*)>;

inline constexpr Entry<OrtStatus*(OrtCode, const char* message)> kCreateStatus{0};
inline constexpr Entry<OrtCode(const OrtStatus*)> kGetErrorCode{1};
inline constexpr Entry<const char*(const OrtStatus*)> kGetErrorMessage{2};
inline constexpr Release<OrtStatus> kReleaseStatus{93};

inline constexpr Call<OrtLogLevel, const char*, OrtEnv**> kCreateEnv{3};
inline constexpr Call<const OrtEnv*> kDisableTelemetry{6};
inline constexpr Release<OrtEnv> kReleaseEnv{92};
inline constexpr Call<char***, int*> kGetAvailableProviders{125};
inline constexpr Call<char**, int> kReleaseAvailableProviders{126};
inline constexpr Call<OrtEnv*, const char*, const char*> kRegisterProviderLibrary{301};
inline constexpr Call<const OrtEnv*, const OrtEpDevice* const**, size_t*> kGetEpDevices{303};
inline constexpr Entry<const char*(const OrtEpDevice*)> kEpDeviceName{312};
inline constexpr Entry<const char*(const OrtEpDevice*)> kEpDeviceVendor{313};
inline constexpr Entry<const OrtHardwareDevice*(const OrtEpDevice*)> kEpDeviceHardware{316};
inline constexpr Entry<OrtHardwareKind(const OrtHardwareDevice*)> kHardwareKind{307};
inline constexpr Entry<uint32_t(const OrtHardwareDevice*)> kHardwareVendorId{308};
inline constexpr Entry<const char*(const OrtHardwareDevice*)> kHardwareVendor{309};
inline constexpr Entry<uint32_t(const OrtHardwareDevice*)> kHardwareDeviceId{310};

inline constexpr Call<OrtSessionOptions**> kCreateSessionOptions{10};
inline constexpr Release<OrtSessionOptions> kReleaseSessionOptions{100};
inline constexpr Call<OrtSessionOptions*, int> kSetLogLevel{22};
inline constexpr Call<OrtSessionOptions*, OrtOptimization> kSetOptimization{23};
inline constexpr Call<OrtSessionOptions*, const char*, const char*> kAddConfigEntry{130};
inline constexpr Call<OrtSessionOptions*, const char*, const char* const*, const char* const*, size_t> kAppendProvider{
    216};
inline constexpr Call<OrtSessionOptions*, OrtEnv*, const OrtEpDevice* const*, size_t, const char* const*,
                      const char* const*, size_t>
    kAppendProviderDevices{304};

inline constexpr Call<const OrtEnv*, const void*, size_t, const OrtSessionOptions*, OrtSession**> kCreateSession{8};
inline constexpr Release<OrtSession> kReleaseSession{95};
inline constexpr Call<const OrtSession*, size_t*> kInputCount{30};
inline constexpr Call<const OrtSession*, size_t*> kOutputCount{31};
inline constexpr Call<const OrtSession*, size_t, OrtAllocator*, char**> kInputName{36};
inline constexpr Call<const OrtSession*, size_t, OrtAllocator*, char**> kOutputName{37};
inline constexpr Call<OrtSession*, const OrtRunOptions*, const char* const*, const OrtValue* const*, size_t,
                      const char* const*, size_t, OrtValue**>
    kRun{9};
inline constexpr Call<OrtAllocator**> kDefaultAllocator{78};
inline constexpr Call<OrtAllocator*, void*> kAllocatorFree{76};

inline constexpr Call<OrtAllocatorKind, OrtMemoryKind, OrtMemoryInfo**> kCreateCpuMemory{69};
inline constexpr Release<OrtMemoryInfo> kReleaseMemory{94};
inline constexpr Call<const OrtMemoryInfo*, void*, size_t, const int64_t*, size_t, int, OrtValue**> kCreateTensor{49};
inline constexpr Release<OrtValue> kReleaseValue{96};
inline constexpr Call<const OrtValue*, int*> kHasValue{192};
inline constexpr Call<const OrtValue*, OrtValueKind*> kValueKind{67};
inline constexpr Call<OrtValue*, void**> kTensorData{51};
inline constexpr Call<const OrtValue*, size_t*> kTensorBytes{318};
inline constexpr Call<const OrtValue*, OrtTypeAndShape**> kTypeAndShape{65};
inline constexpr Release<OrtTypeAndShape> kReleaseTypeAndShape{99};
inline constexpr Call<const OrtTypeAndShape*, int*> kElementType{60};
inline constexpr Call<const OrtTypeAndShape*, size_t*> kRank{61};
inline constexpr Call<const OrtTypeAndShape*, int64_t*, size_t> kShape{62};
inline constexpr Call<const OrtTypeAndShape*, size_t*> kElementCount{64};

/// A type with its number in ONNX Runtime: that of ONNX up to Float4E2M1, behind it an own order. Older libraries
/// refuse numbers that they do not know.
struct ElementType {
  DType dtype;
  int number;
};
inline constexpr ElementType kElementTypes[] = {
    {DType::Float32, 1},
    {DType::UInt8, 2},
    {DType::Int8, 3},
    {DType::UInt16, 4},
    {DType::Int16, 5},
    {DType::Int32, 6},
    {DType::Int64, 7},
    {DType::Bool, 9},
    {DType::Float16, 10},
    {DType::Float64, 11},
    {DType::UInt32, 12},
    {DType::UInt64, 13},
    {DType::BFloat16, 16},
    {DType::Float8E4M3FN, 17},
    {DType::Float8E4M3FNUZ, 18},
    {DType::Float8E5M2, 19},
    {DType::Float8E5M2FNUZ, 20},
    {DType::UInt4, 21},
    {DType::Int4, 22},
    {DType::Float4E2M1, 23},
    {DType::UInt2, 24},
    {DType::Int2, 25},
    {DType::Float8E8M0, 26},
};

}  // namespace opkit::harness::ort
