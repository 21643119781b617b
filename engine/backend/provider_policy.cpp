#include "engine/backend/provider_policy.h"

#include "engine/op/internal_operators.h"
#include "engine/op/op_registry.h"

namespace opkit {
namespace {

using Kind = ProviderRule::Kind;

std::string targetOf(std::string_view type) { return type.empty() ? "this session" : fmt::format("{}", type); }

std::string ruleText(const ProviderRule& rule) {
  return fmt::format("{} {}{}{}", nameOf(rule.kind), rule.type, rule.type.empty() ? "" : "=", rule.provider);
}

Status checkType(const ProviderRule& rule, const OpRegistry& registry) {
  if (rule.type.empty() || findInternalOperator(rule.type)) return Status::ok();
  const OpDef* def = registry.find(rule.type);
  if (!def) {
    std::vector<std::string> types;
    for (const OpDef* known : registry.all()) types.push_back(known->type);
    return Status::invalidArgument("{}: unknown operator '{}'; known: {}", ruleText(rule), rule.type,
                                   fmt::join(types, ", "));
  }
  if (def->lower || def->shapeOnly)
    return Status::invalidArgument("{}: {} has no kernels to choose among: it is {}", ruleText(rule), rule.type,
                                   def->lower ? "lowered to a raster" : "computed at resize");
  return Status::ok();
}

}  // namespace

const char* nameOf(Kind kind) { return kind == Kind::Prefer ? "prefer" : kind == Kind::Forbid ? "forbid" : "force"; }

Status ProviderPolicy::add(Kind kind, std::string_view text) {
  const size_t equals = text.find('=');
  ProviderRule rule{kind, std::string(equals == text.npos ? text : text.substr(equals + 1)),
                    std::string(equals == text.npos ? "" : text.substr(0, equals))};
  if (rule.provider.empty() || equals == 0)
    return Status::invalidArgument("{}: expected PROVIDER or OPERATOR=PROVIDER, got '{}'", nameOf(kind), text);
  rules.push_back(std::move(rule));
  return Status::ok();
}

Status ProviderPolicy::check(const OpRegistry& registry) const {
  for (const ProviderRule& rule : rules) {
    OPKIT_TRY(checkType(rule, registry));
    const std::set<std::string> known = registry.providers(rule.type);
    if (!known.contains(rule.provider))
      return Status::invalidArgument("{}: {} has no provider '{}'; known: {}", ruleText(rule), targetOf(rule.type),
                                     rule.provider, fmt::join(known, ", "));
    if (rule.kind == Kind::Force && has(Kind::Forbid, rule.type, rule.provider))
      return Status::invalidArgument("{}: provider '{}' is also forbidden for {}", ruleText(rule), rule.provider,
                                     targetOf(rule.type));
  }
  return Status::ok();
}

bool ProviderPolicy::has(Kind kind, std::string_view type, std::string_view provider) const {
  return std::any_of(rules.begin(), rules.end(), [&](const ProviderRule& rule) {
    return rule.kind == kind && rule.type == type && rule.provider == provider;
  });
}

bool ProviderPolicy::forces(std::string_view type) const {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const ProviderRule& rule) { return rule.kind == Kind::Force && rule.type == type; });
}

std::string ProviderPolicy::refusal(std::string_view type, std::string_view provider) const {
  if (has(Kind::Force, type, provider)) return "";
  const bool internal = findInternalOperator(type) != nullptr;
  const bool forced = forces(type);
  if (forced || (!internal && forces("") && !has(Kind::Force, "", provider))) {
    std::vector<std::string_view> names;
    for (const ProviderRule& rule : rules)
      if (rule.kind == Kind::Force && rule.type == (forced ? type : "")) names.push_back(rule.provider);
    return fmt::format("provider {} is forced for {}", fmt::join(names, " or "), targetOf(forced ? type : ""));
  }
  if (has(Kind::Forbid, type, provider)) return fmt::format("provider {} is forbidden for {}", provider, type);
  if (!internal && has(Kind::Forbid, "", provider) && !has(Kind::Prefer, type, provider))
    return fmt::format("provider {} is forbidden for this session", provider);
  return "";
}

size_t ProviderPolicy::preference(std::string_view type, std::string_view provider) const {
  size_t place = 0;
  for (const std::string_view level : {type, std::string_view()})
    for (const ProviderRule& rule : rules) {
      if (rule.kind != Kind::Prefer || rule.type != level) continue;
      if (rule.provider == provider) return place;
      ++place;
    }
  return SIZE_MAX;
}

}  // namespace opkit
