// Imitator: computes what a kernel with one plausible mistake would give, and compares it with what a kernel gave. Part
// of hypotheses; its functions are in imitator.cpp, hypotheses_of_inputs.cpp and hypotheses_of_parameters.cpp.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/compare/alterations.h"
#include "harness/compare/diagnose.h"

namespace opkit::harness {

class Imitator {
 public:
  /// Borrows both.
  Imitator(const Evidence& evidence, const std::vector<bool>& wrong);

  std::optional<Diagnosis> find();

 private:
  using Json = nlohmann::json;
  using Open = std::vector<bool>;  // elements of which a hypothesis says nothing

  const OracleTensor& expected() const { return e_.expected[e_.output]; }
  bool isDone() const;
  bool canTell() const;
  std::string nameOf(size_t input) const;
  /// The oracle's outputs; nullopt if it refuses, or gives something of another description.
  std::optional<OracleTensor> outputOf(const HostInputs& inputs, const std::string& paramsJson,
                                       bool anyShape = false) const;
  /// Keeps the hypothesis if `values` explain the output.
  void offer(const char* kind, const std::string& text, const std::optional<OracleTensor>& values,
             const Open& open = {});
  /// Copies of the inputs with one changed; nullopt if out of memory, or if nothing changes.
  std::optional<HostInputs> altered(size_t index, const std::function<void(OracleTensor&)>& change) const;
  void tryInput(const char* kind, const std::string& text, size_t index,
                const std::function<void(OracleTensor&)>& change);

  // Of parameters.
  void defaults();
  void parameters();
  void epsilon();
  void padding();
  void tryParameter(const std::string& key, const Json& value, const std::string& note = "");
  void tryNames(const std::string& key);
  void tryReals(const std::string& key, double value);
  void tryLists(const std::string& key, const Json& value);

  // Of inputs.
  void specialInputs();
  void wholeInputs();
  void pairs();
  void indices();
  void exchangeAxes(size_t input, size_t a, size_t b);
  void tails();
  void offerCut(const std::string& text, int64_t extent, int64_t count,
                const std::function<bool(size_t input, size_t axis)>& where);
  std::optional<OracleTensor> grown(const OracleTensor& output, int64_t extent, int64_t count, Open& open) const;
  void vectors();
  void offerVectors(const std::vector<size_t>& inputs);
  void offerVector(const std::string& names, const std::vector<OracleTensor>& outputs, const std::string& by,
                   size_t axis);
  void offerFirstOf(const std::string& names, const std::vector<OracleTensor>& outputs, int64_t width);
  OracleTensor mixed(const std::vector<OracleTensor>& outputs,
                     const std::function<size_t(const DimVector& at, size_t flat)>& which) const;

  const Evidence& e_;
  const std::vector<bool>& wrong_;
  const OracleTensor got_;
  const double deadlineNs_;
  int64_t failures_ = 0;
  Json params_ = Json::object();  // with the defaults of scalars
  std::optional<Diagnosis> whole_, part_;
};

}  // namespace opkit::harness
