#include "proto/job/input_kind.h"

#include <google/protobuf/reflection.h>

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

void SetFilesOf(Input& input, const std::vector<std::string>& files) {
  pb::Message& given = *input.GetReflection()->MutableMessage(&input, GivenField(input));
  const auto field = given.GetReflection()->GetMutableRepeatedFieldRef<std::string>(
      &given, &MemberOf(input, "files"));
  field.Clear();
  for (const std::string& file : files) field.Add(file);
}

}  // namespace pstrain
