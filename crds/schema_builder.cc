#include "crds/schema_builder.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "proto/job/psjob.pb.h"
#include "proto/job/schema.h"
#include "proto/template/template_checks.h"

namespace pstrain {
namespace {

namespace pb = google::protobuf;

constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53

/// An integer where it is one: OpenAPI readers show `minimum: 1`, not 1.0.
Json Bound(double value) {
  if (std::trunc(value) == value && std::abs(value) <= kMaxExactInteger) {
    return Json::Int(static_cast<std::int64_t>(value));
  }
  return Json::Double(value);
}

void SetNumberBounds(const FieldOptions& options, Json& schema) {
  if (options.has_minimum()) schema.Set("minimum", Bound(options.minimum()));
  if (options.has_maximum()) schema.Set("maximum", Bound(options.maximum()));
  if (options.has_exclusive_minimum()) {
    schema.Set("minimum", Bound(options.exclusive_minimum()));
    schema.Set("exclusiveMinimum", Json::Bool(true));
  }
  if (options.has_exclusive_maximum()) {
    schema.Set("maximum", Bound(options.exclusive_maximum()));
    schema.Set("exclusiveMaximum", Json::Bool(true));
  }
}

void SetInteger(std::string_view format, const FieldOptions& options, Json& schema) {
  schema.Set("type", Json::String("integer"));
  schema.Set("format", Json::String(std::string(format)));
  SetNumberBounds(options, schema);
}

/// An object whose members are kept as they are.
Json Verbatim() {
  Json schema = Json::Object();
  schema.Set("type", Json::String("object"));
  schema.Set("x-kubernetes-preserve-unknown-fields", Json::Bool(true));
  return schema;
}

Json WithProperty(Json schema, std::string_view name, Json property) {
  Json properties = Json::Object();
  properties.Set(name, std::move(property));
  schema.Set("properties", std::move(properties));
  return schema;
}

Json ListOf(std::int64_t most, Json items) {
  Json schema = Json::Object();
  schema.Set("type", Json::String("array"));
  schema.Set("maxItems", Json::Int(most));
  schema.Set("items", std::move(items));
  return schema;
}

Json TextSchema() {
  Json text = Json::Object();
  text.Set("type", Json::String("string"));
  text.Set("maxLength", Json::Int(1024));
  return text;
}

Json IntegerSchema(std::string_view format, std::int64_t least, std::int64_t most) {
  Json number = Json::Object();
  number.Set("type", Json::String("integer"));
  number.Set("format", Json::String(std::string(format)));
  number.Set("minimum", Json::Int(least));
  number.Set("maximum", Json::Int(most));
  return number;
}

/// A list of objects with names, as `env`, `ports` and `volumes` are.
Json NamedItems(std::string_view more, const Json& schema_of_more) {
  Json item = WithProperty(Verbatim(), "name", TextSchema());
  if (!more.empty()) item.FindMutable("properties")->Set(more, schema_of_more);
  return ListOf(1024, std::move(item));
}

/// Of a PodTemplateSpec only what is checked has a schema, with the bounds that keep its rules
/// within CEL's budget: names of variables, ports and volumes, the grace period, and what pstrain
/// sets itself. All else is Kubernetes' own: a closed copy would prune what a newer one knows.
Json PodTemplateSchema() {
  constexpr std::int64_t kLastPort = 65535;
  Json container = WithProperty(Verbatim(), "env", NamedItems("", Json()));
  container.FindMutable("properties")
      ->Set("ports", NamedItems("containerPort", IntegerSchema("int32", 1, kLastPort)));
  const Json containers = ListOf(64, std::move(container));
  Json pod = WithProperty(Verbatim(), "containers", containers);
  Json& properties = *pod.FindMutable("properties");
  properties.Set("initContainers", containers);
  properties.Set("volumes", NamedItems("", Json()));
  for (const std::string_view text : {"restartPolicy", "hostname", "subdomain"}) {
    properties.Set(text, TextSchema());
  }
  properties.Set("terminationGracePeriodSeconds", IntegerSchema("int64", 0, kLongestGraceSeconds));
  return WithProperty(Verbatim(), "spec", std::move(pod));
}

/// Members of `from` at the end of `to`.
void Append(const Json& from, Json& to) {
  for (const Json::Member& member : from.members()) to.Set(member.first, member.second);
}

void SetText(const FieldOptions& options, Json& schema) {
  if (options.raw_json()) return Append(PodTemplateSchema(), schema);
  schema.Set("type", Json::String("string"));
  if (options.has_min_length()) schema.Set("minLength", Json::Uint(options.min_length()));
  if (options.has_max_length()) schema.Set("maxLength", Json::Uint(options.max_length()));
  if (options.has_pattern()) {
    schema.Set("pattern", Json::String("^(" + options.pattern() + ")$"));
  }
}

void SetEnum(const pb::EnumDescriptor& type, Json& schema) {
  schema.Set("type", Json::String("string"));
  Json values = Json::Array();
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) values.Append(Json::String(type.value(i)->name()));
  }
  schema.Set("enum", std::move(values));
}

/// Type and bounds of a single value, without description and default.
Json ValueSchema(const pb::FieldDescriptor& descriptor, const Descriptions& descriptions) {
  const FieldOptions& options = OptionsOf(descriptor);
  Json schema = Json::Object();
  switch (descriptor.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
      SetInteger("int32", options, schema);
      if (!options.has_maximum()) {
        schema.Set("maximum", Json::Int(std::numeric_limits<std::int32_t>::max()));
      }
      break;
    case pb::FieldDescriptor::CPPTYPE_INT64:
      SetInteger("int64", options, schema);
      break;
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      schema.Set("type", Json::String("number"));
      schema.Set("format", Json::String("double"));
      SetNumberBounds(options, schema);
      break;
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      schema.Set("type", Json::String("boolean"));
      break;
    case pb::FieldDescriptor::CPPTYPE_ENUM:
      SetEnum(*descriptor.enum_type(), schema);
      break;
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      Append(BuildSchema(*descriptor.message_type(), descriptions), schema);
      break;
    default:
      SetText(options, schema);
  }
  return schema;
}

void SetList(const pb::FieldDescriptor& descriptor, const Descriptions& descriptions,
             Json& schema) {
  const FieldOptions& options = OptionsOf(descriptor);
  schema.Set("type", Json::String("array"));
  if (options.has_min_items()) schema.Set("minItems", Json::Uint(options.min_items()));
  if (options.has_max_items()) schema.Set("maxItems", Json::Uint(options.max_items()));
  schema.Set("items", ValueSchema(descriptor, descriptions));
  if (options.has_list_map_key()) {
    schema.Set("x-kubernetes-list-type", Json::String("map"));
    Json keys = Json::Array();
    keys.Append(Json::String(options.list_map_key()));
    schema.Set("x-kubernetes-list-map-keys", std::move(keys));
  } else {
    schema.Set("x-kubernetes-list-type", Json::String(options.unique_items() ? "set" : "atomic"));
  }
}

Json Validation(const std::string& cel, const std::string& message, const std::string& path) {
  Json validation = Json::Object();
  validation.Set("rule", Json::String(cel));
  validation.Set("message", Json::String(message));
  if (!path.empty()) validation.Set("fieldPath", Json::String("." + path));
  return validation;
}

/// Exactly one member of each oneof, in the words of proto/job/message_decoder.cc.
void AddOneofRules(const pb::Descriptor& type, Json& validations) {
  for (int i = 0; i < type.real_oneof_decl_count(); ++i) {
    std::vector<std::string> names;
    std::string present;
    for (int j = 0; j < type.oneof_decl(i)->field_count(); ++j) {
      const pb::FieldDescriptor& member = *type.oneof_decl(i)->field(j);
      if (OptionsOf(member).test_only()) continue;
      names.push_back(member.json_name());
      present += (present.empty() ? "has(self." : ", has(self.") + member.json_name() + ")";
    }
    validations.Append(Validation("[" + present + "].exists_one(x, x)",
                                  "must have exactly one of " + JoinNames(names), ""));
  }
}

Json Validations(const pb::Descriptor& type) {
  Json validations = Json::Array();
  AddOneofRules(type, validations);
  for (const Rule* rule : RulesOf(type)) {
    validations.Append(Validation(rule->cel(), rule->message(), PathOfRule(type, *rule)));
  }
  return validations;
}

}  // namespace

Json BuildSchema(const pb::Descriptor& message, const Descriptions& descriptions) {
  Json required = Json::Array();
  Json properties = Json::Object();
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& descriptor = *message.field(i);
    const FieldOptions& options = OptionsOf(descriptor);
    if (options.test_only()) continue;
    const bool must_be_there = options.required() || options.min_items() > 0;
    if (must_be_there && !options.has_default_json()) {
      required.Append(Json::String(descriptor.json_name()));
    }
    properties.Set(descriptor.json_name(), BuildFieldSchema(descriptor, descriptions));
  }
  Json schema = Json::Object();
  schema.Set("type", Json::String("object"));
  if (required.size() > 0) schema.Set("required", std::move(required));
  if (properties.size() > 0) schema.Set("properties", std::move(properties));
  Json validations = Validations(message);
  if (validations.size() > 0) schema.Set("x-kubernetes-validations", std::move(validations));
  return schema;
}

Json BuildFieldSchema(const pb::FieldDescriptor& descriptor, const Descriptions& descriptions) {
  Json schema = Json::Object();
  std::string text = descriptions.OfField(descriptor);
  if (text.empty() && descriptor.message_type() != nullptr) {
    text = descriptions.OfMessage(*descriptor.message_type());
  }
  if (!text.empty()) schema.Set("description", Json::String(std::move(text)));
  if (OptionsOf(descriptor).has_default_json()) {
    auto standard = ParseJson(OptionsOf(descriptor).default_json());
    // A default that is no JSON would fail every manifest test.
    if (standard.ok()) schema.Set("default", std::move(standard).value());
  }
  if (descriptor.is_map()) {
    schema.Set("type", Json::String("object"));
    // The bounds of the field are those of its values.
    Json values = ValueSchema(*descriptor.message_type()->map_value(), descriptions);
    SetNumberBounds(OptionsOf(descriptor), values);
    schema.Set("additionalProperties", std::move(values));
  } else if (descriptor.is_repeated()) {
    SetList(descriptor, descriptions, schema);
  } else {
    Append(ValueSchema(descriptor, descriptions), schema);
  }
  return schema;
}

}  // namespace pstrain
