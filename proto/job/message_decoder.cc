#include "proto/job/message_decoder.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include "proto/job/manifest_path.h"
#include "proto/job/manifest_rules.h"
#include "proto/job/schema.h"
#include "proto/job/value_decoder.h"

namespace pstrain {
namespace {

namespace pb = google::protobuf;

/// Gives every node of a default the place where its absence was noticed.
void SetPositions(Json& tree, const Json& place) {
  tree.set_position(place.line(), place.column());
  for (Json& item : tree.mutable_items()) SetPositions(item, place);
  for (Json::Member& member : tree.mutable_members()) SetPositions(member.second, place);
}

class Decoder {
 public:
  Decoder(const DecodeOptions& options, std::vector<ManifestError>& errors)
      : options_(options), errors_(errors) {}

  void Decode(const Json& tree, const std::string& path, pb::Message& message) {
    if (!tree.is_object()) return Report(tree, path, "must be an object; " + Found(tree));
    const std::size_t errors_before = errors_.size();
    const pb::Descriptor& type = *message.GetDescriptor();
    RefuseUnknown(tree, path, type);
    CheckOneofs(tree, path, type);
    for (int i = 0; i < type.field_count(); ++i) {
      DecodeField(tree, path, *type.field(i), message);
    }
    if (errors_.size() == errors_before && !options_.lenient) CheckRules(tree, path, message);
  }

 private:
  void Report(const Json& place, const std::string& path, std::string text) {
    errors_.push_back({.line = place.line(), .path = path, .message = std::move(text)});
  }

  bool Admitted(const pb::FieldDescriptor& descriptor) const {
    return options_.allow_test_only || !OptionsOf(descriptor).test_only();
  }

  /// The member of the field; nullptr when absent, null or not admitted.
  const Json* Present(const Json& tree, const pb::FieldDescriptor& descriptor) const {
    const Json* value = tree.Find(descriptor.json_name());
    return value == nullptr || value->is_null() || !Admitted(descriptor) ? nullptr : value;
  }

  void RefuseUnknown(const Json& tree, const std::string& path, const pb::Descriptor& type) {
    if (options_.lenient) return;
    for (const Json::Member& member : tree.members()) {
      const pb::FieldDescriptor* descriptor = FindManifestField(type, member.first);
      if (descriptor != nullptr && Admitted(*descriptor)) continue;
      if (IsLeftAlone(type, member.first)) continue;
      Report(member.second, JoinMember(path, member.first),
             UnknownFieldMessage(type, member.first, options_.allow_test_only));
    }
  }

  void CheckOneofs(const Json& tree, const std::string& path, const pb::Descriptor& type) {
    for (int i = 0; i < type.real_oneof_decl_count(); ++i) {  // the real ones come first
      const pb::OneofDescriptor& choice = *type.oneof_decl(i);
      std::vector<std::string> all;
      std::vector<std::string> present;
      for (int j = 0; j < choice.field_count(); ++j) {
        const pb::FieldDescriptor& descriptor = *choice.field(j);
        if (!Admitted(descriptor)) continue;
        all.push_back(descriptor.json_name());
        if (Present(tree, descriptor) != nullptr) present.push_back(descriptor.json_name());
      }
      if (present.size() == 1) continue;
      // The unknown member is the better message when it is the only one.
      if (present.empty() && IsUnion(type) && tree.size() > 0 && !options_.lenient) continue;
      Report(tree, path,
             "must have exactly one of " + JoinNames(all) + "; has " +
                 (present.empty() ? "none" : JoinNames(present, " and ")));
    }
  }

  void DecodeField(const Json& tree, const std::string& path, const pb::FieldDescriptor& descriptor,
                   pb::Message& message) {
    const FieldOptions& options = OptionsOf(descriptor);
    const std::string field_path = JoinMember(path, descriptor.json_name());
    if (const Json* value = Present(tree, descriptor)) {
      DecodePresent(*value, field_path, descriptor, message);
    } else if (options.has_default_json()) {
      auto standard = ParseJson(options.default_json());
      if (!standard.ok()) return Report(tree, field_path, "has a default that is not JSON");
      SetPositions(*standard, tree);
      DecodePresent(*standard, field_path, descriptor, message);
    } else if (options.required() || options.min_items() > 0) {
      Report(tree, field_path, "is required");
    }
  }

  void DecodePresent(const Json& value, const std::string& path,
                     const pb::FieldDescriptor& descriptor, pb::Message& message) {
    if (descriptor.is_map()) {
      DecodeMap(value, path, descriptor, message);
    } else if (descriptor.is_repeated()) {
      DecodeList(value, path, descriptor, message);
    } else if (descriptor.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
      pb::Message& inner = *message.GetReflection()->MutableMessage(&message, &descriptor);
      // The executor's: what of it makes no sense is left out.
      const bool lenient = inner.GetDescriptor() == JobStatus::descriptor();
      if (lenient) return DecodeMessage(value, path, {.lenient = true}, inner, errors_);
      Decode(value, path, inner);
    } else {
      std::string error = DecodeScalar(value, descriptor, message);
      if (!error.empty()) Report(value, path, std::move(error));
    }
  }

  void DecodeMap(const Json& value, const std::string& path, const pb::FieldDescriptor& descriptor,
                 pb::Message& message) {
    if (!value.is_object()) return Report(value, path, "must be an object; " + Found(value));
    const pb::FieldDescriptor& key_field = *descriptor.message_type()->map_key();
    const pb::FieldDescriptor& value_field = *descriptor.message_type()->map_value();
    for (const Json::Member& member : value.members()) {
      pb::Message& entry = *message.GetReflection()->AddMessage(&message, &descriptor);
      entry.GetReflection()->SetString(&entry, &key_field, member.first);
      const std::string member_path = JoinMember(path, member.first);
      DecodePresent(member.second, member_path, value_field, entry);
      const std::optional<double> number = member.second.AsDouble();
      std::string error = number ? CheckBounds(*number, OptionsOf(descriptor)) : std::string();
      if (!error.empty()) Report(member.second, member_path, std::move(error));
    }
  }

  void DecodeList(const Json& value, const std::string& path, const pb::FieldDescriptor& descriptor,
                  pb::Message& message) {
    const FieldOptions& options = OptionsOf(descriptor);
    if (!value.is_array()) return Report(value, path, "must be a list; " + Found(value));
    if (value.size() < options.min_items()) {
      Report(value, path, "must have at least " + Items(options.min_items()));
    }
    if (options.has_max_items() && value.size() > options.max_items()) {
      return Report(value, path, "must have at most " + Items(options.max_items()));
    }
    std::set<std::string> seen;
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      const Json& item = value.items()[i];
      const std::string item_path = JoinIndex(path, i);
      if (descriptor.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
        Decode(item, item_path, *message.GetReflection()->AddMessage(&message, &descriptor));
      } else {
        std::string error = DecodeScalar(item, descriptor, message);
        if (!error.empty()) Report(item, item_path, std::move(error));
      }
      if (options.unique_items() && !seen.insert(WriteJson(item)).second) {
        Report(item, item_path, "is in the list twice; " + Found(item));
      }
    }
  }

  static std::string Items(std::uint32_t count) {
    return std::to_string(count) + (count == 1 ? " item" : " items");
  }

  void CheckRules(const Json& tree, const std::string& path, const pb::Message& message) {
    const auto& predicates = RulePredicates();
    for (const Rule& rule :
         message.GetDescriptor()->options().GetExtension(manifest_message).rules()) {
      if (!rule.check().empty()) continue;
      const auto predicate = predicates.find(rule.id());
      if (predicate == predicates.end()) {
        Report(tree, path, "has a rule that this program does not know: " + rule.id());
      } else if (!predicate->second(message)) {
        ReportRule(tree, path, *message.GetDescriptor(), rule);
      }
    }
  }

  /// At the rule's field, or at the deepest node on the way to it that the text has.
  void ReportRule(const Json& tree, const std::string& path, const pb::Descriptor& type,
                  const Rule& rule) {
    const std::string field_path = PathOfRule(type, rule);
    const int line = LineAt(tree, field_path);
    const std::string whole = field_path.empty() ? path
                              : path.empty()     ? field_path
                                                 : path + "." + field_path;
    errors_.push_back({.line = line, .path = whole, .message = rule.message()});
  }

  const DecodeOptions& options_;
  std::vector<ManifestError>& errors_;
};

}  // namespace

void DecodeMessage(const Json& tree, const std::string& path, const DecodeOptions& options,
                   pb::Message& message, std::vector<ManifestError>& errors) {
  if (!options.lenient) return Decoder(options, errors).Decode(tree, path, message);
  std::vector<ManifestError> ignored;
  Decoder(options, ignored).Decode(tree, path, message);
}

}  // namespace pstrain
