#include "crds/reference.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "base/text/json.h"
#include "crds/crd.h"
#include "proto/job/fixed_fields.h"
#include "proto/job/manifest_path.h"
#include "proto/job/psjob.pb.h"
#include "proto/job/schema.h"

namespace pstrain {
namespace {

namespace pb = google::protobuf;

constexpr std::string_view kHead =
    R"(<!-- Generated from proto/job/psjob.proto by scripts/generate.sh; do not edit. -->
# PSTrainingJob

`apiVersion: pstrain.dev/v1alpha1`, `kind: PSTrainingJob`, short name `pstj`. `metadata.name` is an RFC 1035 label of at most 40 characters. A whole example is `examples/adult/job.yaml`; `pstrain validate FILE` checks a manifest without a cluster, `pstrain run FILE` runs it on this machine.

The value under Default is filled in when the field is absent. A field without a default and not marked *required* may be absent.
)";

constexpr std::string_view kChanges = R"(
## What may change

What `kubectl edit` and `kubectl apply` can change of a job that has started. A path stands for all fields below it.

- **live**: the operator acts on the change immediately.
- **new pods**: what runs keeps what it was started with. A replica's next attempt has the change, and a replica that is added; to have it everywhere, suspend the job and resume it.
- **while suspended**: refused while pods of the job may run. Set `spec.runPolicy.suspend`, change it, and resume the job.
- **fixed**: refused once the job has started, that is, once its chief has said how many examples there are; the last column says what to do instead.

| field | a change takes effect | |
|---|---|---|
)";

constexpr std::string_view kRefusals = R"(
## What a refusal says

`pstrain validate` names file, line and field. An apiserver names the field; with `fieldValidation=Strict`, which kubectl asks for, it refuses unknown fields too. Words in capitals stand for what differs.

| fault | `pstrain validate` | the apiserver |
|---|---|---|
)";

constexpr std::string_view kRules = R"(
Of a role's `template`, and of `spec.template`, this is checked: that it is an object, that `terminationGracePeriodSeconds` lies between 0 and 86400, and the rules on what pstrain sets itself. What else is in it the apiserver says when it is asked for a pod of it: the operator asks before it makes anything of the job, and when the answer is no, the condition `Accepted: False` has the field and the apiserver's words. A rule of the table below says the same in both places; where it speaks of one element of a list, `pstrain validate` names that element and says more. Four things an apiserver cannot check: that what a role's template shares with `spec.template` can be merged, that the members of a crossed feature exist and have categories, that all embeddings have one dimension where the model asks for that, and that `TF_CONFIG` stays within what a program can be started with. Such a job is taken, and the operator answers with the condition `Accepted: False`.

## Rules

| id | field | message |
|---|---|---|
)";

/// The same fault in the words of the two who may find it. tests/crds/table.py holds every refusal
/// of a real apiserver against the last column.
struct Refusal {
  std::string_view fault;
  std::string_view validate;
  std::string_view apiserver;
};
constexpr std::array<Refusal, 20> kRefusalTable = {{
    {"of another type", "must be an integer; found \"1\"",
     "FIELD in body must be of type TYPE: VALUE"},
    {"too small", "must be at least 0", "FIELD in body should be greater than or equal to N"},
    {"too small", "must be greater than 0", "FIELD in body should be greater than N"},
    {"too large", "must be at most 10000", "FIELD in body should be less than or equal to N"},
    {"too large", "must be less than 1", "FIELD in body should be less than N"},
    {"unknown name", "must be Fail or Skip; found \"x\"",
     "Unsupported value: VALUE: supported values: VALUE"},
    {"missing", "is required", "Required value"},
    {"text of another form", "must match PATTERN; found \"a b\"",
     "FIELD in body should match VALUE"},
    {"metadata.name of another form", "must match PATTERN; found \"A_1\"",
     "a lowercase RFC 1123 subdomain must consist of VALUE"},
    {"text too long", "must have at most 40 characters", "Too long: may not be more than N bytes"},
    {"text too short", "must have at least 1 character",
     "FIELD in body should be at least N chars long"},
    {"too few items", "must have at least 1 item", "FIELD in body should have at least N items"},
    {"too many items", "must have at most 8 items", "Too many: N: must have at most N items"},
    {"the same item twice", "is in the list twice; found \"a\"", "Duplicate value: VALUE"},
    {"not exactly one of", "must have exactly one of A or B; has none",
     "must have exactly one of VALUE"},
    {"unknown field", "unknown field; did you mean \"replicas\"?",
     "strict decoding error: unknown field VALUE"},
    {"another apiVersion", "must match pstrain\\.dev/v1alpha1; found \"v1\"",
     "the API version in the data (VALUE) does not match the expected API version (VALUE)"},
    {"no kind", "is required", "Object 'Kind' is missing"},
    {"another kind", "must match PSTrainingJob; found \"Job\"", "must be PSTrainingJob"},
    {"rules, beside a fault of type or bound", "",
     "some validation rules were not checked because the object was invalid"},
}};

std::string Code(std::string_view text) {
  return text.empty() ? std::string() : "`" + std::string(text) + "`";
}

/// A cell of a table: no bar may end it.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

void Row(std::initializer_list<std::string> cells, std::string& out) {
  for (const std::string& cell : cells) out += "| " + Cell(cell) + " ";
  out += "|\n";
}

bool IsShown(const pb::FieldDescriptor& field) { return !OptionsOf(field).test_only(); }

/// The message of a field's value: of a map, of its values.
const pb::Descriptor* InnerMessage(const pb::FieldDescriptor& field) {
  return field.is_map() ? field.message_type()->map_value()->message_type() : field.message_type();
}

/// Messages in the order of the manifest, and the paths at which each stands.
struct Sections {
  std::vector<const pb::Descriptor*> order;
  std::map<const pb::Descriptor*, std::vector<std::string>> paths;

  void Add(const pb::Descriptor& message, const std::string& path) {
    auto& known = paths[&message];
    if (known.empty()) order.push_back(&message);
    known.push_back(path);
    for (int i = 0; i < message.field_count(); ++i) {
      const pb::FieldDescriptor& field = *message.field(i);
      const pb::Descriptor* inner = InnerMessage(field);
      if (inner == nullptr || !IsShown(field)) continue;
      const std::string suffix = field.is_map() ? ".NAME" : field.is_repeated() ? "[]" : "";
      Add(*inner, JoinMember(path, field.json_name()) + suffix);
    }
  }
};

std::string TypeOfValue(const pb::FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
      return "integer";
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return "integer of 64 bits";
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return "number";
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return "`true` or `false`";
    case pb::FieldDescriptor::CPPTYPE_ENUM: {
      std::vector<std::string> names;
      for (int i = 0; i < field.enum_type()->value_count(); ++i) {
        const pb::EnumValueDescriptor& value = *field.enum_type()->value(i);
        if (value.number() != 0) names.push_back(Code(value.name()));
      }
      return JoinNames(names);
    }
    case pb::FieldDescriptor::CPPTYPE_MESSAGE: {
      const std::string& name = field.message_type()->name();
      std::string anchor;
      for (const char c : name) anchor += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
      return field.message_type()->field_count() == 0 ? "`{}`" : "[" + name + "](#" + anchor + ")";
    }
    default:
      return OptionsOf(field).raw_json() ? "PodTemplateSpec" : "text";
  }
}

std::string TypeOf(const pb::FieldDescriptor& field) {
  if (field.is_map()) return "map of text to " + TypeOfValue(*field.message_type()->map_value());
  return (field.is_repeated() ? "list of " : "") + TypeOfValue(field);
}

std::string Number(double value) { return WriteJson(Json::Double(value)); }

std::string Whole(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? std::to_string(whole) : Number(value);
}

/// "1 to 5 WHAT", "at least 1 WHAT" or "at most 5 WHAT"; empty without a bound.
std::string Range(const std::string& least, const std::string& most, const std::string& what) {
  if (least.empty() && most.empty()) return {};
  std::string text = least.empty()   ? "at most " + most
                     : most.empty()  ? "at least " + least
                     : least == most ? "exactly " + least
                                     : least + " to " + most;
  return what.empty() ? text : text + " " + what;
}

void AddBound(const std::string& bound, std::string& text) {
  if (!bound.empty()) text += (text.empty() ? "" : "; ") + bound;
}

std::string BoundsOf(const pb::FieldDescriptor& field) {
  const FieldOptions& options = OptionsOf(field);
  const auto count = [](bool has, std::uint32_t value) {
    return has ? std::to_string(value) : std::string();
  };
  std::string text;
  AddBound(Range(options.has_minimum() ? Whole(options.minimum()) : "",
                 options.has_maximum() ? Whole(options.maximum()) : "", ""),
           text);
  if (options.has_exclusive_minimum()) {
    AddBound("greater than " + Whole(options.exclusive_minimum()), text);
  }
  if (options.has_exclusive_maximum()) {
    AddBound("less than " + Whole(options.exclusive_maximum()), text);
  }
  AddBound(Range(count(options.has_min_length(), options.min_length()),
                 count(options.has_max_length(), options.max_length()), "characters"),
           text);
  AddBound(Range(count(options.has_min_items(), options.min_items()),
                 count(options.has_max_items(), options.max_items()), "items"),
           text);
  if (options.has_pattern()) AddBound("matches " + Code(options.pattern()), text);
  if (options.unique_items()) AddBound("no item twice", text);
  if (options.has_list_map_key()) AddBound(Code(options.list_map_key()) + " unique", text);
  return text;
}

std::string DefaultOf(const pb::FieldDescriptor& field) {
  const FieldOptions& options = OptionsOf(field);
  if (options.has_default_json()) return Code(options.default_json());
  return options.required() || options.min_items() > 0 ? "*required*" : "";
}

std::string TextOf(const pb::FieldDescriptor& field, const Descriptions& descriptions) {
  std::string text = descriptions.OfField(field);
  if (text.empty() && field.message_type() != nullptr) {
    text = descriptions.OfMessage(*field.message_type());
  }
  return text;
}

std::string MembersOf(const pb::OneofDescriptor& choice) {
  std::vector<std::string> names;
  for (int i = 0; i < choice.field_count(); ++i) {
    if (IsShown(*choice.field(i))) names.push_back(Code(choice.field(i)->json_name()));
  }
  return JoinNames(names);
}

void WriteSection(const pb::Descriptor& message, const std::vector<std::string>& paths,
                  const Descriptions& descriptions, std::string& out) {
  out += "\n### " + message.name() + "\n";
  std::vector<std::string> places;
  places.reserve(paths.size());
  for (const std::string& path : paths) places.push_back(Code(path));
  out += "At " + JoinNames(places, " and ") + ".";
  for (int i = 0; i < message.real_oneof_decl_count(); ++i) {
    out += " Exactly one of " + MembersOf(*message.oneof_decl(i)) + ".";
  }
  const std::string text = descriptions.OfMessage(message);
  if (!text.empty()) out += " " + text;
  out += "\n\n| field | type | default | bounds | |\n|---|---|---|---|---|\n";
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    if (!IsShown(field)) continue;
    Row({Code(field.json_name()), TypeOf(field), DefaultOf(field), BoundsOf(field),
         TextOf(field, descriptions)},
        out);
  }
}

/// The update rules of crds/transition_rules.h.
void WriteFixed(std::string& out) {
  for (const auto* fields : {&FixedFields(), &FieldsFixedInCluster(), &ImmutableFields()}) {
    for (const FixedField& fixed : *fields) {
      Row({Code(fixed.path), "PSTrainingJob, on update", std::string(fixed.message)}, out);
    }
  }
}

std::string_view EffectName(ChangeEffect effect) {
  switch (effect) {
    case ChangeEffect::kFixed:
      return "fixed";
    case ChangeEffect::kWhileSuspended:
      return "while suspended";
    case ChangeEffect::kNewPods:
      return "new pods";
    case ChangeEffect::kLive:
      return "live";
  }
  return {};
}

void WriteChanges(std::string& out) {
  for (const FieldChange& change : ChangesOfSpec().fields) {
    Row({Code(change.path), std::string(EffectName(change.effect)), std::string(change.message)},
        out);
  }
}

void WriteRules(const Sections& sections, std::string& out) {
  for (const pb::Descriptor* message : sections.order) {
    for (const Rule& rule : message->options().GetExtension(manifest_message).rules()) {
      const std::string field = PathOfRule(*message, rule);
      Row({Code(rule.id()), message->name() + (field.empty() ? "" : " " + Code(field)),
           rule.message()},
          out);
    }
  }
}

}  // namespace

std::string WriteReference(const Descriptions& descriptions) {
  std::string out(kHead);
  Sections all;
  for (const auto& [title, field] : {std::pair{"Specification", "spec"}, {"Status", "status"}}) {
    out += std::string("\n## ") + title + "\n";
    Sections part;
    const auto& descriptor = *PSTrainingJob::descriptor()->FindFieldByName(field);
    part.Add(*descriptor.message_type(), field);
    for (const pb::Descriptor* message : part.order) {
      if (message->field_count() == 0) continue;
      WriteSection(*message, part.paths[message], descriptions, out);
      all.order.push_back(message);
    }
  }
  out += kChanges;
  WriteChanges(out);
  out += kRefusals;
  for (const Refusal& refusal : kRefusalTable) {
    Row({std::string(refusal.fault), Code(refusal.validate), Code(refusal.apiserver)}, out);
  }
  out += kRules;
  WriteRules(all, out);
  WriteFixed(out);
  return out;
}

}  // namespace pstrain
