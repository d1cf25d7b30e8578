#include "crds/descriptions.h"

#include <google/protobuf/descriptor.pb.h>

#include <sstream>
#include <utility>

namespace pstrain {
namespace {

namespace pb = google::protobuf;

/// The lines of a comment as one line of text.
template <typename Descriptor>
std::string CommentOf(const Descriptor* descriptor) {
  pb::SourceLocation location;
  if (descriptor == nullptr || !descriptor->GetSourceLocation(&location)) return {};
  std::istringstream words(location.leading_comments);
  std::string text;
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

Result<Descriptions> Descriptions::Load(std::string_view descriptor_set) {
  pb::FileDescriptorSet files;
  if (!files.ParseFromArray(descriptor_set.data(), static_cast<int>(descriptor_set.size()))) {
    return InvalidArgumentError("is not a FileDescriptorSet");
  }
  Descriptions descriptions;
  descriptions.pool_ = std::make_unique<pb::DescriptorPool>();
  for (const pb::FileDescriptorProto& file : files.file()) {
    if (descriptions.pool_->BuildFile(file) == nullptr) {
      return InvalidArgumentError("cannot use " + file.name() +
                                  "; write the set with --include_imports");
    }
  }
  return descriptions;
}

std::string Descriptions::OfField(const pb::FieldDescriptor& descriptor) const {
  std::string text = CommentOf(pool_->FindFieldByName(descriptor.full_name()));
  if (descriptor.enum_type() == nullptr) return text;
  for (int i = 0; i < descriptor.enum_type()->value_count(); ++i) {
    const pb::EnumValueDescriptor& value = *descriptor.enum_type()->value(i);
    const std::string meaning = CommentOf(pool_->FindEnumValueByName(value.full_name()));
    if (meaning.empty()) continue;
    text += (text.empty() ? "" : " ") + value.name() + ": " + meaning;
  }
  return text;
}

std::string Descriptions::OfMessage(const pb::Descriptor& descriptor) const {
  return CommentOf(pool_->FindMessageTypeByName(descriptor.full_name()));
}

}  // namespace pstrain
