// Templates: the texts that op-scaffold renders, embedded in the program and, file by file, replaceable from a folder.
//
// A template is Mustache with the delimiters <% and %> (C++ is full of braces) and nothing escaped. The tag of a
// section that is alone on its line leaves no line behind. A template is looked up as <kind>/<file>.mustache, then as
// common/<file>.mustache; the override folder is searched first each time. Thread-safe.
#pragma once

#include <kainjow/mustache.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "scaffold/plan.h"

namespace opkit::scaffold {

struct EmbeddedTemplate {
  std::string_view path;  // "elementwise/op.cpp.mustache"
  std::string_view text;
};
/// Generated from scaffold/templates by the build.
std::span<const EmbeddedTemplate> embeddedTemplates();

class Templates {
 public:
  /// `overrides` is a folder as `eject` writes it, or empty.
  explicit Templates(std::string overrides = "") : overrides_(std::move(overrides)) {}

  /// True if the kind has this file, its own or the common one.
  bool has(const std::string& kind, const std::string& file) const { return find(kind, file).has_value(); }
  /// InvalidArgument names the template if it does not exist or is not well-formed Mustache.
  Result<std::string> render(const std::string& kind, const std::string& file, kainjow::mustache::data& context) const;

 private:
  struct Found {
    std::string path;
    std::string text;
  };
  std::optional<Found> find(const std::string& kind, const std::string& file) const;

  std::string overrides_;
};

/// Writes every embedded template below `folder`, for editing.
Plan ejectPlan(const Tree& folder);

}  // namespace opkit::scaffold
