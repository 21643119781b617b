// Operator parameters: a FlatBuffers table per operator, described by the .fbs in the operator's folder.
//
// In a model the parameters are opaque bytes that only the operator can verify and read. Empty bytes mean
// "all defaults". The schema text travels with the operator, so parameters parse from and print as JSON.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status.h"

namespace opkit {

using ParamBytes = std::vector<uint8_t>;

struct ParamsSchema {
  std::string_view text;                                           // the .fbs; empty for an operator without parameters
  std::function<bool(std::span<const uint8_t>)> verify = nullptr;  // null for an operator without parameters
  /// Verified bytes with every default left out, so that equal parameters are equal bytes; null where `verify` is.
  std::function<ParamBytes(std::span<const uint8_t>)> normal = nullptr;
};

/// False if a vector of 8-byte elements is misaligned: the Verifier does not check this, and reading such a vector is
/// undefined.
bool hasAlignedVectors(const flatbuffers::Table& table, const flatbuffers::TypeTable& types);

/// Serialises the object-API struct that flatc generates (SoftmaxParamsT).
template <class Native>
ParamBytes packParams(const Native& native) {
  using Table = typename Native::TableType;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Table::Pack(builder, &native));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// Reads verified bytes: unpackParams<SoftmaxParams>(bytes).axis. Empty bytes give the defaults.
template <class Table>
typename Table::NativeTableType unpackParams(std::span<const uint8_t> bytes) {
  typename Table::NativeTableType native;
  if (!bytes.empty()) flatbuffers::GetRoot<Table>(bytes.data())->UnPackTo(&native);
  return native;
}

/// The schema of FlatBuffers table `Table`, whose .fbs text is `text` (generated as k<Folder>Schema).
template <class Table>
ParamsSchema paramsSchema(std::string_view text) {
  const auto verify = [](std::span<const uint8_t> bytes) {
    if (!flatbuffers::Verifier(bytes.data(), bytes.size()).template VerifyBuffer<Table>(nullptr)) return false;
    return hasAlignedVectors(*flatbuffers::GetRoot<flatbuffers::Table>(bytes.data()), *Table::MiniReflectTypeTable());
  };
  return {text, verify, [](std::span<const uint8_t> bytes) { return packParams(unpackParams<Table>(bytes)); }};
}

/// Whether two verified byte strings are the same parameters.
inline bool sameParams(const ParamsSchema& schema, std::span<const uint8_t> a, std::span<const uint8_t> b) {
  return schema.normal ? schema.normal(a) == schema.normal(b) : std::ranges::equal(a, b);
}

/// Verifies that `bytes` are parameters of this schema; Corrupt otherwise.
Status verifyParams(const ParamsSchema& schema, std::span<const uint8_t> bytes);
/// Parses JSON such as {"axis": -1}; InvalidArgument carries FlatBuffers' own message.
Result<ParamBytes> paramsFromJson(const ParamsSchema& schema, const std::string& json);
/// Prints parameters as compact JSON with only the fields that are stored; "{}" for none.
std::string paramsToJson(const ParamsSchema& schema, std::span<const uint8_t> bytes, bool withDefaults = false);

}  // namespace opkit
