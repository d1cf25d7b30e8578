#include "proto/job/fixed_fields.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/crc32c.h"
#include "base/text/utf8.h"
#include "proto/job/manifest_path.h"
#include "proto/job/schema.h"

namespace pstrain {
namespace {

namespace pb = google::protobuf;

constexpr std::string_view kRoot = "spec";
/// Characters of a value in a message.
constexpr std::size_t kMostShown = 60;

bool IsSingleMessage(const pb::FieldDescriptor& field) {
  return field.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE && !field.is_repeated();
}

/// An option that has the words of a refusal.
struct RefusalOption {
  bool (FieldOptions::*has)() const;
  const std::string& (FieldOptions::*text)() const;
};

void Collect(const pb::Descriptor& message, const RefusalOption& option, const FixedField& above,
             std::vector<FixedField>& all) {
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    FixedField here{above.fields, JoinMember(above.path, field.json_name()),
                    (OptionsOf(field).*option.text)()};
    here.fields.push_back(&field);
    if ((OptionsOf(field).*option.has)()) {
      all.push_back(std::move(here));
    } else if (IsSingleMessage(field)) {
      Collect(*field.message_type(), option, here, all);
    }
  }
}

std::vector<FixedField> AllWith(const RefusalOption& option) {
  std::vector<FixedField> all;
  Collect(*JobSpec::descriptor(), option, {{}, std::string(kRoot), {}}, all);
  return all;
}

/// What the field says itself, of all below it too.
std::optional<FieldChange> OwnChange(const pb::FieldDescriptor& field) {
  const FieldOptions& options = OptionsOf(field);
  if (options.has_fixed()) return FieldChange{{}, ChangeEffect::kFixed, options.fixed()};
  if (options.has_fixed_in_cluster()) {
    return FieldChange{{}, ChangeEffect::kFixed, options.fixed_in_cluster()};
  }
  if (options.has_immutable()) {
    return FieldChange{{}, ChangeEffect::kFixed, options.immutable()};
  }
  if (options.has_while_suspended()) {
    return FieldChange{{}, ChangeEffect::kWhileSuspended, options.while_suspended()};
  }
  if (options.takes_effect() == NewPods) return FieldChange{{}, ChangeEffect::kNewPods, {}};
  if (options.takes_effect() == Live) return FieldChange{{}, ChangeEffect::kLive, {}};
  return std::nullopt;
}

/// A field below this message says something itself.
bool IsMixed(const pb::Descriptor& message) {
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    if (OptionsOf(field).may_change() || OwnChange(field)) return true;
    if (IsSingleMessage(field) && IsMixed(*field.message_type())) return true;
  }
  return false;
}

/// One row in place of those of a message, from `first` on, where they are alike.
void JoinAlike(const std::string& path, std::size_t first, std::vector<FieldChange>& fields) {
  if (first >= fields.size()) return;
  const FieldChange& one = fields[first];
  const auto alike = [&one](const FieldChange& other) {
    return other.effect == one.effect && other.message == one.message;
  };
  if (!std::all_of(fields.begin() + static_cast<std::ptrdiff_t>(first), fields.end(), alike))
    return;
  fields.resize(first + 1);
  fields[first].path = path;
}

/// `above`: what counts for fields that say nothing; `allowed`: for those with
/// FieldOptions.may_change.
void CollectChanges(const pb::Descriptor& message, const std::string& path,
                    const std::optional<FieldChange>& above,
                    const std::optional<FieldChange>& allowed, FieldChanges& all) {
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    if (OptionsOf(field).test_only()) continue;
    const std::string here = JoinMember(path, field.json_name());
    const std::optional<FieldChange> own = OwnChange(field);
    std::optional<FieldChange> change = OptionsOf(field).may_change() ? allowed : above;
    if (own) change = own;
    const bool refused = change && change->effect == ChangeEffect::kFixed;
    if (IsSingleMessage(field) && IsMixed(*field.message_type())) {
      const std::size_t first = all.fields.size();
      const std::size_t without = all.without_effect.size();
      CollectChanges(*field.message_type(), here, change, refused ? allowed : change, all);
      if (all.without_effect.size() == without) JoinAlike(here, first, all.fields);
    } else if (!change) {
      all.without_effect.push_back(here);
    } else {
      all.fields.push_back({here, change->effect, change->message});
    }
  }
}

/// Leaves out what has FieldOptions.may_change.
void DropExceptions(pb::Message& message) {
  const pb::Reflection& reflection = *message.GetReflection();
  std::vector<const pb::FieldDescriptor*> set;
  reflection.ListFields(message, &set);
  for (const pb::FieldDescriptor* field : set) {
    if (OptionsOf(*field).may_change()) {
      reflection.ClearField(&message, field);
    } else if (IsSingleMessage(*field)) {
      DropExceptions(*reflection.MutableMessage(&message, field));
    }
  }
}

/// Leaves out what is not fixed. `depth`: fields of the path of a FixedField above this message.
void KeepFixed(std::size_t depth, const std::vector<const FixedField*>& fixed,
               pb::Message& message) {
  const pb::Reflection& reflection = *message.GetReflection();
  std::vector<const pb::FieldDescriptor*> set;
  reflection.ListFields(message, &set);
  for (const pb::FieldDescriptor* field : set) {
    std::vector<const FixedField*> below;
    std::ranges::copy_if(fixed, std::back_inserter(below),
                         [&](const FixedField* one) { return one->fields[depth] == field; });
    if (below.empty()) {
      reflection.ClearField(&message, field);
    } else if (below.front()->fields.size() > depth + 1) {
      KeepFixed(depth + 1, below, *reflection.MutableMessage(&message, field));
    } else if (IsSingleMessage(*field)) {
      DropExceptions(*reflection.MutableMessage(&message, field));
    }
  }
}

struct Difference {
  std::string path;
  std::string was;
  std::string is;
};
using Found = std::optional<Difference>;

/// `index`: of a list, -1: a single value.
std::string Show(const pb::Message& message, const pb::FieldDescriptor& field, int index) {
  std::string text;
  pb::TextFormat::PrintFieldValueToString(message, &field, index, &text);
  if (text.size() > kMostShown) text = std::string(Utf8Prefix(text, kMostShown)) + "...";
  return text;
}

Found Compare(const pb::Message& was, const pb::Message& is, const std::string& path);

Found CompareLists(const pb::Message& was, const pb::Message& is, const pb::FieldDescriptor& field,
                   const std::string& path) {
  const int had = was.GetReflection()->FieldSize(was, &field);
  const int has = is.GetReflection()->FieldSize(is, &field);
  for (int i = 0; i < std::min(had, has); ++i) {
    const std::string item = JoinIndex(path, static_cast<std::size_t>(i));
    if (field.message_type() != nullptr) {
      Found found = Compare(was.GetReflection()->GetRepeatedMessage(was, &field, i),
                            is.GetReflection()->GetRepeatedMessage(is, &field, i), item);
      if (found) return found;
    } else if (Show(was, field, i) != Show(is, field, i)) {
      return Difference{item, Show(was, field, i), Show(is, field, i)};
    }
  }
  if (had == has) return std::nullopt;
  return Difference{path, std::to_string(had) + " items", std::to_string(has) + " items"};
}

/// The items of a map by the text of their key.
std::map<std::string, std::string> ItemsOf(const pb::Message& message,
                                           const pb::FieldDescriptor& field) {
  std::map<std::string, std::string> items;
  const pb::Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const pb::Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    const pb::FieldDescriptor& key = *field.message_type()->map_key();
    std::string scratch;
    items[entry.GetReflection()->GetStringReference(entry, &key, &scratch)] =
        Show(entry, *field.message_type()->map_value(), -1);
  }
  return items;
}

Found CompareMaps(const pb::Message& was, const pb::Message& is, const pb::FieldDescriptor& field,
                  const std::string& path) {
  const std::map<std::string, std::string> had = ItemsOf(was, field);
  const std::map<std::string, std::string> has = ItemsOf(is, field);
  for (const auto& [key, value] : had) {
    const auto found = has.find(key);
    if (found == has.end()) return Difference{JoinMember(path, key), value, "absent"};
    if (found->second != value) return Difference{JoinMember(path, key), value, found->second};
  }
  for (const auto& [key, value] : has) {
    if (!had.contains(key)) return Difference{JoinMember(path, key), "absent", value};
  }
  return std::nullopt;
}

Found CompareSingle(const pb::Message& was, const pb::Message& is, const pb::FieldDescriptor& field,
                    const std::string& path) {
  const auto present = [&field](const pb::Message& message) {
    return !field.has_presence() || message.GetReflection()->HasField(message, &field);
  };
  if (!present(was) && !present(is)) return std::nullopt;
  if (present(was) != present(is)) {
    return Difference{path, present(was) ? "set" : "absent", present(is) ? "set" : "absent"};
  }
  if (IsSingleMessage(field)) {
    return Compare(was.GetReflection()->GetMessage(was, &field),
                   is.GetReflection()->GetMessage(is, &field), path);
  }
  const std::string before = Show(was, field, -1);
  const std::string now = Show(is, field, -1);
  return before == now ? Found() : Difference{path, before, now};
}

Found Compare(const pb::Message& was, const pb::Message& is, const std::string& path) {
  for (int i = 0; i < was.GetDescriptor()->field_count(); ++i) {
    const pb::FieldDescriptor& field = *was.GetDescriptor()->field(i);
    const std::string inner = JoinMember(path, field.json_name());
    Found found = field.is_map()        ? CompareMaps(was, is, field, inner)
                  : field.is_repeated() ? CompareLists(was, is, field, inner)
                                        : CompareSingle(was, is, field, inner);
    if (found) return found;
  }
  return std::nullopt;
}

/// What to do instead of changing the field at, or above, this path.
std::string_view MessageFor(std::string_view path) {
  for (const FixedField& field : FixedFields()) {
    const bool below = path.starts_with(field.path) &&
                       (path.size() == field.path.size() || path[field.path.size()] == '.' ||
                        path[field.path.size()] == '[');
    if (below) return field.message;
  }
  if (!path.starts_with(kRoot)) return "start all replicas from one build of the program";
  return "cannot change once the job has started";
}

/// The digest of the field at the end of the path.
void AddDigests(const FixedField& fixed, const pb::Message& spec, FixedDigests& digests) {
  const pb::Message* message = &spec;
  for (std::size_t i = 0; i + 1 < fixed.fields.size(); ++i) {
    message = &message->GetReflection()->GetMessage(*message, fixed.fields[i]);
  }
  const pb::FieldDescriptor& field = *fixed.fields.back();
  const pb::Reflection& reflection = *message->GetReflection();
  if (IsSingleMessage(field)) {
    const pb::Message& value = reflection.GetMessage(*message, &field);
    static_cast<void>(value.ByteSizeLong());
    digests[fixed.path] = DigestOf(value);
  } else if (field.is_repeated()) {
    for (int i = 0; i < reflection.FieldSize(*message, &field); ++i) {
      const std::string path = JoinIndex(fixed.path, static_cast<std::size_t>(i));
      if (field.message_type() == nullptr) {
        digests[path] = Crc32c(Show(*message, field, i));
        continue;
      }
      const pb::Message& value = reflection.GetRepeatedMessage(*message, &field, i);
      static_cast<void>(value.ByteSizeLong());
      digests[path] = DigestOf(value);
    }
  } else {
    digests[fixed.path] = Crc32c(Show(*message, field, -1));
  }
}

}  // namespace

const std::vector<FixedField>& FixedFields() {
  static const std::vector<FixedField> fields =
      AllWith({&FieldOptions::has_fixed, &FieldOptions::fixed});
  return fields;
}

const std::vector<FixedField>& FieldsFixedInCluster() {
  static const std::vector<FixedField> fields =
      AllWith({&FieldOptions::has_fixed_in_cluster, &FieldOptions::fixed_in_cluster});
  return fields;
}

const std::vector<FixedField>& ImmutableFields() {
  static const std::vector<FixedField> fields =
      AllWith({&FieldOptions::has_immutable, &FieldOptions::immutable});
  return fields;
}

const FieldChanges& ChangesOfSpec() {
  static const FieldChanges changes = [] {
    FieldChanges all;
    CollectChanges(*JobSpec::descriptor(), std::string(kRoot), std::nullopt, std::nullopt, all);
    return all;
  }();
  return changes;
}

bool HasExceptions(const pb::Descriptor& message) {
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    if (OptionsOf(field).may_change()) return true;
    if (IsSingleMessage(field) && HasExceptions(*field.message_type())) return true;
  }
  return false;
}

JobSpec FixedPart(const JobSpec& spec) {
  std::vector<const FixedField*> fixed;
  for (const FixedField& field : FixedFields()) fixed.push_back(&field);
  JobSpec part = spec;
  KeepFixed(0, fixed, part);
  return part;
}

Status CheckFixed(const JobSpec& was, const JobSpec& is) {
  const Found found = Compare(FixedPart(was), FixedPart(is), std::string(kRoot));
  if (!found) return OkStatus();
  return FailedPreconditionError(found->path + " was " + found->was +
                                 " when the job started and is " + found->is +
                                 " now: " + std::string(MessageFor(found->path)));
}

std::uint32_t DigestOf(const pb::Message& message) {
  std::string bytes;
  {
    pb::io::StringOutputStream stream(&bytes);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    // Into a string: it cannot fail.
    static_cast<void>(message.SerializeToCodedStream(&coded));
  }
  return Crc32c(bytes);
}

std::uint32_t EvaluationDigest(const Training& training) {
  Evaluation evaluation = training.evaluation();
  evaluation.clear_deadline_seconds();  // how long is waited changes no score
  return DigestOf(evaluation);
}

FixedDigests DigestsOf(const JobSpec& spec) {
  const JobSpec part = FixedPart(spec);
  FixedDigests digests;
  for (const FixedField& field : FixedFields()) AddDigests(field, part, digests);
  return digests;
}

Status CheckDigests(const FixedDigests& chief, const FixedDigests& replica) {
  const auto refuse = [](const std::string& path) {
    return FailedPreconditionError(path +
                                   (path.starts_with(kRoot)
                                        ? " is not that of the chief's job: "
                                        : " is not that of the chief's program: ") +
                                   std::string(MessageFor(path)));
  };
  FixedDigests all = chief;
  all.insert(replica.begin(), replica.end());
  for (const auto& [path, digest] : all) {
    const auto ours = chief.find(path);
    const auto theirs = replica.find(path);
    if (ours == chief.end() || theirs == replica.end() || ours->second != theirs->second) {
      return refuse(path);
    }
  }
  return OkStatus();
}

}  // namespace pstrain
