#include "runtime/chief/disk/variable_difference.h"

#include <google/protobuf/util/message_differencer.h>

#include "proto/job/psjob.pb.h"

namespace pstrain {
namespace {

std::string Differs(const char* what, const std::string& was, const std::string& is) {
  return std::string("its ") + what + " is " + is + ", and was " + was;
}

std::string ShapeText(const VariableSpec& variable) {
  std::string text;
  for (const std::int64_t size : variable.shape()) {
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  }
  return "[" + text + "]";
}

template <typename Message>
std::string TextOf(bool has, const Message& message) {
  return has ? "{" + message.ShortDebugString() + "}" : "none";
}

template <typename Message>
bool Same(const Message& a, const Message& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

}  // namespace

std::string VariableDifference(const VariableSpec& declared, const VariableSpec& again) {
  if (declared.kind() != again.kind()) {
    return Differs("kind", VariableSpec::Kind_Name(declared.kind()),
                   VariableSpec::Kind_Name(again.kind()));
  }
  if (ShapeText(declared) != ShapeText(again)) {
    return Differs("shape", ShapeText(declared), ShapeText(again));
  }
  if (declared.dtype() != again.dtype()) {
    return Differs("dtype", VariableSpec::DataType_Name(declared.dtype()),
                   VariableSpec::DataType_Name(again.dtype()));
  }
  if (!Same(declared.initializer(), again.initializer())) {
    return Differs("initializer", TextOf(declared.has_initializer(), declared.initializer()),
                   TextOf(again.has_initializer(), again.initializer()));
  }
  if (declared.has_optimizer() != again.has_optimizer() ||
      !Same(declared.optimizer(), again.optimizer())) {
    return Differs("optimizer", TextOf(declared.has_optimizer(), declared.optimizer()),
                   TextOf(again.has_optimizer(), again.optimizer()));
  }
  // Where it is declared with none, their number is not the declaration's.
  if (again.partitions_size() != 0 && declared.partitions_size() != again.partitions_size()) {
    return Differs("number of partitions", std::to_string(declared.partitions_size()),
                   std::to_string(again.partitions_size()));
  }
  return "";
}

}  // namespace pstrain
