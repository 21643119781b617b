// ProviderPolicy: which providers' kernels a session may use, and which it tries first.
//
// Rules hold for one operator or, with an empty operator, for the whole session; a rule for the operator wins
// over one for the session. A forced provider rules out all others, a forbidden one is refused (and listed
// among the refusals of the placement), preferred ones are tried before the others in the order of the rules.
// Providers that no rule names keep the order of the creator table. Internal operators follow the rules that name them:
// "Raster=reference" moves data by the oracle. Plain values; const calls may come from several threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"

namespace opkit {

class OpRegistry;

struct ProviderRule {
  enum class Kind { Prefer, Forbid, Force };
  Kind kind = Kind::Prefer;
  std::string provider;
  std::string type;  // name of the operator; empty is every operator
};

struct ProviderPolicy {
  std::vector<ProviderRule> rules;

  /// Adds the rule "PROVIDER" or "OPERATOR=PROVIDER", as on command lines. InvalidArgument if a part is missing.
  Status add(ProviderRule::Kind kind, std::string_view text);
  /// InvalidArgument when a rule names an operator or provider that `registry` and the sources of extra
  /// Creators do not know (lists the known ones), or when a provider is both forced and forbidden.
  Status check(const OpRegistry& registry) const;

  /// The reason why the operator may not use the provider; empty if it may.
  std::string refusal(std::string_view type, std::string_view provider) const;
  /// Rank of the provider among the preferred ones: 0 is tried first; SIZE_MAX if no rule prefers it.
  size_t preference(std::string_view type, std::string_view provider) const;

 private:
  bool has(ProviderRule::Kind kind, std::string_view type, std::string_view provider) const;
  bool forces(std::string_view type) const;
};

/// "prefer", "forbid", "force".
const char* nameOf(ProviderRule::Kind kind);

}  // namespace opkit
