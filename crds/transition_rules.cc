#include "crds/transition_rules.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

/// The operator has made no pods yet, or is to make none with what was written before.
constexpr const char* kNoPods =
    "!has(oldSelf.status) || !has(oldSelf.status.phase) || "
    "(has(self.spec.runPolicy.suspend) && self.spec.runPolicy.suspend) || "
    "(has(oldSelf.spec.runPolicy.suspend) && oldSelf.spec.runPolicy.suspend)";

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

/// In the CRD x-kubernetes-list-type: set.
bool IsSet(const pb::FieldDescriptor& field) {
  return field.is_repeated() && OptionsOf(field).unique_items();
}

bool IsSetOfNumbers(const pb::FieldDescriptor& field) {
  return IsSet(field) && field.cpp_type() == pb::FieldDescriptor::CPPTYPE_DOUBLE;
}

/// True where the message `path` (no dot at its end) has a set of numbers at any depth; empty when
/// its type has none.
std::string HasSetOfNumbers(const pb::Descriptor& message, const std::string& path) {
  std::string any;
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    const std::string inner_path = path + "." + field.json_name();
    std::string inner;
    if (IsSetOfNumbers(field)) {
      inner = "true";
    } else if (field.message_type() != nullptr && !field.is_repeated()) {
      inner = HasSetOfNumbers(*field.message_type(), inner_path);
    }
    if (inner.empty()) continue;
    if (MayBeAbsent(field)) inner = "has(" + inner_path + ") && " + inner;
    any += (any.empty() ? "" : " || ") + ("(" + inner + ")");
  }
  return any;
}

bool HasSetInside(const pb::FieldDescriptor& field) {
  return field.message_type() != nullptr && !field.is_repeated() &&
         !HasSetOfNumbers(*field.message_type(), "").empty();
}

/// `list`, which begins with a dot and may end with a macro, is the same on both sides.
std::string SameList(const std::string& list) { return "self" + list + " == oldSelf" + list; }

/// The set at `path` as a list: to an apiserver two sets are equal in any order, and a set that is
/// appended to a list is none any more. The list has one item: what is appended to an empty one
/// stays a set. A macro would say the same, but its cost is estimated by the most items that each
/// set of a list of messages may have.
std::string InOrder(const pb::FieldDescriptor& field, const std::string& path) {
  const bool number = field.cpp_type() == pb::FieldDescriptor::CPPTYPE_DOUBLE;
  return (number ? "[0.0] + " : "[''] + ") + path;
}

/// Each set in the messages `path` (no dot at its end), in order; where `guard` is false it is not
/// there.
void AppendSets(const pb::Descriptor& message, const std::string& path, const std::string& guard,
                std::vector<std::string>* sets) {
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    if (OptionsOf(field).test_only()) continue;
    const std::string here = path + "." + field.json_name();
    std::string present = guard;
    if (MayBeAbsent(field)) present += (guard.empty() ? "" : " && ") + ("has(" + here + ")");
    if (IsSet(field)) {
      const std::string value = InOrder(field, here);
      sets->push_back(present.empty() ? value : "(" + present + ") ? " + value + " : []");
    } else if (field.message_type() != nullptr && !field.is_repeated()) {
      AppendSets(*field.message_type(), here, present, sets);
    }
  }
}

/// The sets in the messages of `self<path>`, a list, or a message where `single`, have the same
/// order on both sides; begins with " && ", or is empty.
std::string SetsInOrder(const pb::Descriptor& message, const std::string& path, bool single) {
  std::vector<std::string> sets;
  AppendSets(message, "x", "", &sets);
  const auto messages = [&](const std::string& side) {
    return single ? "[" + side + path + "]" : side + path;
  };
  std::string all;
  for (const std::string& set : sets) {
    const std::string in_order = ".map(x, " + set + ")";
    all += " && " + messages("self") + in_order + " == " + messages("oldSelf") + in_order;
  }
  return all;
}

/// Lists that are equal where the messages `path` (no dot at its end) are, but for their sets of
/// numbers, which they leave out. Where `guard` is false there is nothing to compare. A
/// message that has a set in one member of a oneof has none of the others.
void AppendParts(const pb::Descriptor& message, const std::string& path, const std::string& guard,
                 std::vector<std::string>* parts) {
  std::set<const pb::OneofDescriptor*> taken;
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    if (HasSetInside(field) || IsSetOfNumbers(field)) taken.insert(field.containing_oneof());
  }
  taken.erase(nullptr);
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    const std::string here = path + "." + field.json_name();
    const bool inner = HasSetInside(field);
    if (IsSetOfNumbers(field)) continue;
    if (!inner && taken.contains(field.containing_oneof())) continue;
    std::string present = guard;
    if (MayBeAbsent(field)) present += (guard.empty() ? "" : " && ") + ("has(" + here + ")");
    if (inner) {
      AppendParts(*field.message_type(), here, present, parts);
      continue;
    }
    const std::string value = "[" + here + "]";
    parts->push_back(present.empty() ? value : "(" + present + ") ? " + value + " : []");
  }
}

/// The whole values are equal, lists in their order. The apiserver finds a set of numbers unequal
/// to itself when one of them is whole (it keeps 18 as an integer and looks for 18.0): of the
/// messages in a list that have such a set it compares all else as they are, and the set in order.
std::string SameWhole(const pb::FieldDescriptor& field, const std::string& path) {
  if (IsSet(field)) {
    return InOrder(field, "self" + path) + " == " + InOrder(field, "oldSelf" + path);
  }
  std::string same = SameList(path);
  if (field.message_type() == nullptr || field.is_map()) return same;
  const std::string sets = SetsInOrder(*field.message_type(), path, !field.is_repeated());
  if (!field.is_repeated()) return same + sets;
  // Equal lists of a map type may be in another order.
  const std::string& key = OptionsOf(field).list_map_key();
  const std::string order = key.empty() ? "" : SameList(path + ".map(x, x." + key + ")") + " && ";
  const std::string numbers = HasSetOfNumbers(*field.message_type(), "x");
  if (numbers.empty()) return "(" + order + same + sets + ")";
  std::string all = SameList(path + ".filter(x, !(" + numbers + "))");
  std::vector<std::string> parts;
  AppendParts(*field.message_type(), "x", "", &parts);
  for (const std::string& part : parts) {
    all += " && " + SameList(path + ".filter(x, " + numbers + ").map(x, " + part + ")");
  }
  return "(" + order + "(" + same + " || (" + all + "))" + sets + ")";
}

/// Both sides have the same value there; `path` begins with a dot.
std::string Same(const pb::FieldDescriptor& field, const std::string& path) {
  const bool whole = field.is_repeated() || field.message_type() == nullptr ||
                     !HasExceptions(*field.message_type());
  if (whole) return WherePresent(field, path, SameWhole(field, path));
  std::string all;
  for (int i = 0; i < field.message_type()->field_count(); ++i) {
    const pb::FieldDescriptor& inner = *field.message_type()->field(i);
    if (OptionsOf(inner).may_change() || OptionsOf(inner).test_only()) continue;
    all += (all.empty() ? "" : " && ") + Same(inner, path + "." + inner.json_name());
  }
  return WherePresent(field, path, all);
}

/// The field is the same on both sides.
std::string SameField(const FixedField& fixed) {
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
  return rule;
}

void Append(const std::string& cel, const std::string& message, const std::string& path,
            Json& rules) {
  Json rule = Json::Object();
  rule.Set("rule", Json::String(cel));
  rule.Set("message", Json::String(message));
  rule.Set("fieldPath", Json::String(path));
  rules.Append(std::move(rule));
}

/// Of fields with FieldOptions.while_suspended.
void AppendWhileSuspended(Json& rules) {
  const pb::Descriptor& spec = *JobSpec::descriptor();
  for (int i = 0; i < spec.field_count(); ++i) {
    const pb::FieldDescriptor& field = *spec.field(i);
    if (!OptionsOf(field).has_while_suspended()) continue;
    const std::string path = ".spec." + field.json_name();
    Append(kNoPods + (" || " + Same(field, path)), OptionsOf(field).while_suspended(), path, rules);
  }
}

}  // namespace

Json TransitionRules() {
  Json rules = Json::Array();
  for (const auto* fields : {&FixedFields(), &FieldsFixedInCluster()}) {
    for (const FixedField& fixed : *fields) {
      Append(std::string(kNotStarted) + " || " + SameField(fixed), std::string(fixed.message),
             "." + fixed.path, rules);
    }
  }
  for (const FixedField& fixed : ImmutableFields()) {
    Append(SameField(fixed), std::string(fixed.message), "." + fixed.path, rules);
  }
  AppendWhileSuspended(rules);
  return rules;
}

}  // namespace pstrain
