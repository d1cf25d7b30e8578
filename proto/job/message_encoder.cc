#include "proto/job/message_encoder.h"

#include <map>

#include "proto/job/schema.h"

namespace pstrain {
namespace {

namespace pb = google::protobuf;

Json EncodeString(const std::string& text, const pb::FieldDescriptor& descriptor) {
  if (!OptionsOf(descriptor).raw_json()) return Json::String(text);
  auto inline_value = ParseJson(text);
  return inline_value.ok() ? std::move(inline_value).value() : Json::String(text);
}

Json EncodeSingle(const pb::Message& message, const pb::FieldDescriptor& descriptor) {
  const pb::Reflection& reflection = *message.GetReflection();
  switch (descriptor.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
      return Json::Int(reflection.GetInt32(message, &descriptor));
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return Json::Int(reflection.GetInt64(message, &descriptor));
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return Json::Double(reflection.GetDouble(message, &descriptor));
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return Json::Bool(reflection.GetBool(message, &descriptor));
    case pb::FieldDescriptor::CPPTYPE_ENUM:
      return Json::String(reflection.GetEnum(message, &descriptor)->name());
    case pb::FieldDescriptor::CPPTYPE_STRING:
      return EncodeString(reflection.GetString(message, &descriptor), descriptor);
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      return EncodeMessage(reflection.GetMessage(message, &descriptor));
    default:
      return Json::Null();
  }
}

Json EncodeItem(const pb::Message& message, const pb::FieldDescriptor& descriptor, int index) {
  const pb::Reflection& reflection = *message.GetReflection();
  switch (descriptor.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
      return Json::Int(reflection.GetRepeatedInt32(message, &descriptor, index));
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return Json::Int(reflection.GetRepeatedInt64(message, &descriptor, index));
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return Json::Double(reflection.GetRepeatedDouble(message, &descriptor, index));
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return Json::Bool(reflection.GetRepeatedBool(message, &descriptor, index));
    case pb::FieldDescriptor::CPPTYPE_ENUM:
      return Json::String(reflection.GetRepeatedEnum(message, &descriptor, index)->name());
    case pb::FieldDescriptor::CPPTYPE_STRING:
      return EncodeString(reflection.GetRepeatedString(message, &descriptor, index), descriptor);
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      return EncodeMessage(reflection.GetRepeatedMessage(message, &descriptor, index));
    default:
      return Json::Null();
  }
}

Json EncodeMap(const pb::Message& message, const pb::FieldDescriptor& descriptor) {
  const pb::FieldDescriptor& key = *descriptor.message_type()->map_key();
  const pb::FieldDescriptor& value = *descriptor.message_type()->map_value();
  const pb::Reflection& reflection = *message.GetReflection();
  std::map<std::string, Json> sorted;
  for (int i = 0; i < reflection.FieldSize(message, &descriptor); ++i) {
    const pb::Message& entry = reflection.GetRepeatedMessage(message, &descriptor, i);
    sorted[entry.GetReflection()->GetString(entry, &key)] = EncodeSingle(entry, value);
  }
  Json object = Json::Object();
  for (auto& [name, encoded] : sorted) {
    object.mutable_members().emplace_back(name, std::move(encoded));
  }
  return object;
}

/// Whether a field without presence is written although it is zero.
bool WritesZero(const pb::FieldDescriptor& descriptor) {
  const FieldOptions& options = OptionsOf(descriptor);
  return (options.has_default_json() || options.required()) &&
         descriptor.cpp_type() != pb::FieldDescriptor::CPPTYPE_ENUM;
}

bool IsWritten(const pb::Message& message, const pb::FieldDescriptor& descriptor) {
  const pb::Reflection& reflection = *message.GetReflection();
  if (descriptor.is_repeated()) {
    return reflection.FieldSize(message, &descriptor) > 0 ||
           OptionsOf(descriptor).has_default_json();
  }
  if (reflection.HasField(message, &descriptor)) return true;
  return !descriptor.has_presence() && WritesZero(descriptor);
}

}  // namespace

Json EncodeMessage(const pb::Message& message) {
  const pb::Descriptor& type = *message.GetDescriptor();
  Json object = Json::Object();
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor& descriptor = *type.field(i);
    if (!IsWritten(message, descriptor)) continue;
    Json value;
    if (descriptor.is_map()) {
      value = EncodeMap(message, descriptor);
    } else if (descriptor.is_repeated()) {
      value = Json::Array();
      const int size = message.GetReflection()->FieldSize(message, &descriptor);
      for (int j = 0; j < size; ++j) value.Append(EncodeItem(message, descriptor, j));
    } else {
      value = EncodeSingle(message, descriptor);
    }
    object.mutable_members().emplace_back(descriptor.json_name(), std::move(value));
  }
  return object;
}

}  // namespace pstrain
