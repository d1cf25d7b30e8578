#include "crds/transition_rules.h"

#include <cstddef>
#include <string>
#include <utility>

#include "proto/job/fixed_fields.h"
#include "proto/job/psjob.pb.h"
#include "proto/job/schema.h"

namespace pstrain {
namespace {

namespace pb = google::protobuf;

constexpr const char* kNotStarted =
    "!has(oldSelf.status) || !has(oldSelf.status.training) || "
    "!has(oldSelf.status.training.examplesExpected) || "
    "oldSelf.status.training.examplesExpected == 0";

/// CEL has no `has` for what is always there: required fields, and those with a default.
bool MayBeAbsent(const pb::FieldDescriptor& field) {
  const FieldOptions& options = OptionsOf(field);
  return !options.required() && !options.has_default_json();
}

/// `then`, which reads the field at `path`, guarded by its presence on both sides.
std::string WherePresent(const pb::FieldDescriptor& field, const std::string& path,
                         const std::string& then) {
  if (!MayBeAbsent(field)) return then;
  const std::string now = "has(self" + path + ")";
  return "(" + now + " == has(oldSelf" + path + ") && (!" + now + " || " + then + "))";
}

/// Both sides have the same value there; `path` begins with a dot.
std::string Same(const pb::FieldDescriptor& field, const std::string& path) {
  const bool whole = field.is_repeated() || field.message_type() == nullptr ||
                     !HasExceptions(*field.message_type());
  if (whole) return WherePresent(field, path, "self" + path + " == oldSelf" + path);
  std::string all;
  for (int i = 0; i < field.message_type()->field_count(); ++i) {
    const pb::FieldDescriptor& inner = *field.message_type()->field(i);
    if (OptionsOf(inner).may_change() || OptionsOf(inner).test_only()) continue;
    all += (all.empty() ? "" : " && ") + Same(inner, path + "." + inner.json_name());
  }
  return WherePresent(field, path, all);
}

std::string RuleOf(const FixedField& fixed) {
  std::string path = ".spec";
  for (std::size_t i = 0; i + 1 < fixed.fields.size(); ++i) {
    path += "." + fixed.fields[i]->json_name();
  }
  std::string rule = Same(*fixed.fields.back(), path + "." + fixed.fields.back()->json_name());
  // From the inside out: each message above must be there for what is in it to be read.
  for (std::size_t i = fixed.fields.size() - 1; i > 0; --i) {
    rule = WherePresent(*fixed.fields[i - 1], path, rule);
    path.resize(path.rfind('.'));
  }
  return std::string(kNotStarted) + " || " + rule;
}

}  // namespace

Json TransitionRules() {
  Json rules = Json::Array();
  for (const FixedField& fixed : FixedFields()) {
    Json rule = Json::Object();
    rule.Set("rule", Json::String(RuleOf(fixed)));
    rule.Set("message", Json::String(std::string(fixed.message)));
    rule.Set("fieldPath", Json::String("." + fixed.path));
    rules.Append(std::move(rule));
  }
  return rules;
}

}  // namespace pstrain
