// CommandEncoder: the Encoder that operators see, over a CommandRecording and an Execution's scratch memory; and
// MeasuringEncoder, which records nothing and finds out how much scratch memory is needed and whether the device
// supports the dispatches.
#pragma once

#include <deque>

#include "engine/backend/vulkan/data_reports.h"
#include "engine/backend/vulkan/recording.h"
#include "engine/backend/vulkan/shader_tables.h"

namespace opkit::vulkan {

/// Scratch tensors of one Execution, one after the other in the memory that was planned for it, and the alternatives on
/// which their sizes depend: those that measuring chose are recorded, whatever the tuning cache holds by then.
class ScratchMemory {
 public:
  /// Tensors returned before become invalid. Without `memory` later ones are only counted. With `guardBytes` every
  /// tensor is followed by a gap that no kernel may write.
  void restart(size_t alignment, const Tensor& memory, size_t guardBytes = 0);
  /// Internal if the memory is too small.
  Result<const Tensor*> take(TensorDesc desc);
  size_t usedBytes() const { return usedBytes_; }
  /// The gap after each tensor that was taken; empty without guards.
  const std::vector<Tensor>& gaps() const { return gaps_; }

  void forgetChoices() { choices_.clear(); }
  void noteChoice(size_t choice) { choices_.push_back(choice); }
  /// In the order in which they were noted, from the first after each restart. Internal if there are no more.
  Result<size_t> nextChoice();

 private:
  std::vector<std::unique_ptr<Tensor>> tensors_;  // unique_ptr: addresses are handed out
  std::vector<Tensor> gaps_;
  Tensor memory_;
  size_t guardBytes_ = 0;
  size_t alignment_ = 1;
  size_t usedBytes_ = 0;
  std::vector<size_t> choices_;
  size_t chosen_ = 0;  // of choices_, since the restart
};

class VulkanBackend;

/// What an Execution records, as far as variations of a device class may change it.
struct RecordedWork {
  /// Of each dispatch the shader with its dtype, its constants, and the magnitudes (bits) of its groups and parameters:
  /// extents and strides that differ by less than a factor of two have the same.
  std::string shapeClass;
  uint64_t hash = 0;  // of every command with all parameters, tables and scratch tensors
  size_t dispatches = 0;
  bool offersAlternatives = false;  // the Execution called Encoder::choose with more than one

  void add(std::span<const std::byte> bytes);
};

/// What the two encoders have in common.
class BackendEncoder : public Encoder {
 public:
  BackendEncoder(VulkanBackend& backend, ScratchMemory& scratch) : backend_(backend), scratch_(scratch) {}
  uint64_t maxBindingBytes() const final;
  const DeviceCaps& caps() const final;
  Result<const Tensor*> scratch(TensorDesc desc) final { return scratch_.take(std::move(desc)); }

 protected:
  VulkanBackend& backend_;
  ScratchMemory& scratch_;
};

class MeasuringEncoder final : public BackendEncoder {
 public:
  /// `work`, if given, is filled in.
  MeasuringEncoder(VulkanBackend& backend, ScratchMemory& scratch, RecordedWork* work = nullptr)
      : BackendEncoder(backend, scratch), work_(work) {
    scratch_.forgetChoices();
  }

  Status fillZero(const Tensor& tensor) override;
  Status copyRuns(const Tensor&, const Tensor&, std::span<const ByteRun> runs) override {
    if (work_) work_->add(std::as_bytes(runs));
    return Status::ok();
  }
  Status copyChannels(const Tensor&, const Tensor&, int64_t) override { return Status::ok(); }
  size_t shortestRunBytes() const override;
  void beginDisjoint() override {}
  void endDisjoint() override {}
  Result<const Tensor*> table(const std::vector<uint32_t>& words) override {
    if (work_) work_->add(std::as_bytes(std::span(words)));
    tables_.push_back({tableDesc(words), nullptr, 0, 0});
    return static_cast<const Tensor*>(&tables_.back());
  }
  Result<const Tensor*> report(int64_t words, DataReport explain) override;
  Result<size_t> choose(const Alternatives& alternatives, TensorList inputs, TensorList outputs) override;
  /// Unsupported if the device cannot do it.
  Status dispatchRaw(const ShaderCode& code, std::span<const Tensor* const> tensors, std::span<const std::byte> push,
                     std::span<const uint32_t> constants, Groups groups) override;

 private:
  void describe(const ShaderCode& code, std::span<const Tensor* const> tensors, std::span<const std::byte> push,
                std::span<const uint32_t> constants, Groups groups);

  RecordedWork* work_;
  Tensor words_;
  std::deque<Tensor> tables_;  // a deque: addresses are handed out
};

class CommandEncoder final : public BackendEncoder {
 public:
  CommandEncoder(VulkanBackend& backend, CommandRecording& recording, ScratchMemory& scratch, ShaderTables& tables,
                 DataReports& reports)
      : BackendEncoder(backend, scratch), recording_(recording), tables_(tables), reports_(reports) {}

  Status fillZero(const Tensor& tensor) override;
  Status copyRuns(const Tensor& from, const Tensor& to, std::span<const ByteRun> runs) override {
    return recording_.copyRuns(from, to, runs);
  }
  Status copyChannels(const Tensor& from, const Tensor& to, int64_t firstChannel) override {
    return recording_.copyChannels(from, to, firstChannel);
  }
  size_t shortestRunBytes() const override { return recording_.shortestRunBytes(); }
  void beginDisjoint() override { recording_.hazards().beginDisjoint(); }
  void endDisjoint() override { recording_.hazards().endDisjoint(); }
  Result<const Tensor*> table(const std::vector<uint32_t>& words) override { return tables_.upload(words); }
  Result<const Tensor*> report(int64_t words, DataReport explain) override;
  Result<size_t> choose(const Alternatives&, TensorList, TensorList) override { return scratch_.nextChoice(); }
  Status dispatchRaw(const ShaderCode& code, std::span<const Tensor* const> tensors, std::span<const std::byte> push,
                     std::span<const uint32_t> constants, Groups groups) override {
    return recording_.dispatch(code, tensors, push, constants, groups);
  }

 private:
  CommandRecording& recording_;
  ShaderTables& tables_;
  DataReports& reports_;
};

}  // namespace opkit::vulkan
