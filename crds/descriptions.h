#pragma once

#include <google/protobuf/descriptor.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace pstrain {

/// The comments of the .proto files, which compiled-in descriptors lack. Immutable after Load; any
/// thread.
class Descriptions {
 public:
  /// `descriptor_set` is a serialized FileDescriptorSet, as `protoc --descriptor_set_out
  /// --include_imports --include_source_info` writes it. INVALID_ARGUMENT when it is none or when
  /// a file lacks its imports.
  static Result<Descriptions> Load(std::string_view descriptor_set);

  /// The comment above the field, and what each value of an enum means; empty without a comment.
  std::string OfField(const google::protobuf::FieldDescriptor& descriptor) const;
  /// The comment above the message; empty without one.
  std::string OfMessage(const google::protobuf::Descriptor& descriptor) const;

 private:
  std::unique_ptr<google::protobuf::DescriptorPool> pool_;
};

}  // namespace pstrain
