#include "proto/job/input_kind.h"

#include <google/protobuf/reflection.h>

#include <algorithm>

namespace pstrain {
namespace {

namespace pb = google::protobuf;

/// The field of Input that is given; null when none is.
const pb::FieldDescriptor* GivenField(const Input& input) {
  if (input.kind_case() == Input::KIND_NOT_SET) return nullptr;
  return Input::descriptor()->FindFieldByNumber(input.kind_case());
}

/// REQUIRES: a kind is given.
const pb::FieldDescriptor& MemberOf(const Input& input, const char* name) {
  return *GivenField(input)->message_type()->FindFieldByName(name);
}
const pb::Message& GivenMessage(const Input& input) {
  return input.GetReflection()->GetMessage(input, GivenField(input));
}
pb::Message& MutableGivenMessage(Input& input) {
  return *input.GetReflection()->MutableMessage(&input, GivenField(input));
}

int EnumOf(const Input& input, const char* name) {
  const pb::Message& given = GivenMessage(input);
  return given.GetReflection()->GetEnumValue(given, &MemberOf(input, name));
}

}  // namespace

std::string KindOf(const Input& input) {
  const pb::FieldDescriptor* field = GivenField(input);
  return field == nullptr ? std::string() : field->json_name();
}

std::vector<std::string> FilesOf(const Input& input) {
  if (GivenField(input) == nullptr) return {};
  const pb::Message& given = GivenMessage(input);
  const auto files =
      given.GetReflection()->GetRepeatedFieldRef<std::string>(given, &MemberOf(input, "files"));
  return {files.begin(), files.end()};
}

Input::BadRecords BadRecordsOf(const Input& input) {
  if (GivenField(input) == nullptr) return Input::Fail;
  return static_cast<Input::BadRecords>(EnumOf(input, "bad_records"));
}

Input::Compression CompressionOf(const Input& input) {
  if (GivenField(input) == nullptr) return Input::Auto;
  return static_cast<Input::Compression>(EnumOf(input, "compression"));
}

std::uint64_t MostBadRecords(const Input& input, std::uint64_t records) {
  if (GivenField(input) == nullptr) return records;
  const pb::Message& given = GivenMessage(input);
  const pb::Reflection& fields = *given.GetReflection();
  const double fraction = fields.GetDouble(given, &MemberOf(input, "max_bad_record_fraction"));
  // 0.29 of 100 is 29, and a little less in binary.
  constexpr double kRoundUp = 1 + 1e-12;
  const auto share = static_cast<std::uint64_t>(fraction * static_cast<double>(records) * kRoundUp);
  const pb::FieldDescriptor& count = MemberOf(input, "max_bad_records");
  if (!fields.HasField(given, &count)) return std::min(share, records);
  return std::min(share, static_cast<std::uint64_t>(fields.GetInt64(given, &count)));
}

void SetBadRecordsOf(Input& input, Input::BadRecords policy) {
  pb::Message& given = MutableGivenMessage(input);
  given.GetReflection()->SetEnumValue(&given, &MemberOf(input, "bad_records"), policy);
}

void SetFilesOf(Input& input, const std::vector<std::string>& files) {
  pb::Message& given = MutableGivenMessage(input);
  const auto field = given.GetReflection()->GetMutableRepeatedFieldRef<std::string>(
      &given, &MemberOf(input, "files"));
  field.Clear();
  for (const std::string& file : files) field.Add(file);
}

}  // namespace pstrain
