#include "library/payload.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstdint>
#include <span>
#include <utility>

#include "library/payload.pb.h"

namespace pstrain::program {
namespace {

void ToWire(const Tensor& tensor, WireTensor* wire) {
  wire->set_dtype(static_cast<std::uint32_t>(tensor.dtype()));
  for (const std::int64_t size : tensor.shape().sizes()) wire->add_shape(size);
  if (tensor.dtype() != DType::kString) {
    wire->set_elements(tensor.bytes().data(), tensor.bytes().size());
    return;
  }
  // Of strings by the line above.
  const Result<std::span<const std::string>> strings = tensor.data<std::string>();
  for (const std::string& element : *strings) wire->add_strings(element);
}

Result<Tensor> FromWire(const WireTensor& wire) {
  if (wire.dtype() > static_cast<std::uint32_t>(DType::kString)) {
    return InvalidArgumentError("a tensor of dtype " + std::to_string(wire.dtype()) +
                                ", which is none");
  }
  const auto dtype = static_cast<DType>(wire.dtype());
  Shape shape(std::vector<std::int64_t>(wire.shape().begin(), wire.shape().end()));
  if (dtype == DType::kString) {
    return Tensor::From(std::move(shape),
                        std::vector<std::string>(wire.strings().begin(), wire.strings().end()));
  }
  return Tensor::FromBytes(dtype, std::move(shape), std::as_bytes(std::span(wire.elements())));
}

void ToWire(const Values& values, WireValues* wire) {
  for (const NamedTensor& named : values) {
    WireNamedTensor* added = wire->add_values();
    added->set_name(named.name);
    ToWire(named.value, added->mutable_value());
  }
}

Result<Values> FromWire(const WireValues& wire) {
  Values values;
  for (const WireNamedTensor& named : wire.values()) {
    Result<Tensor> tensor = FromWire(named.value());
    if (!tensor.ok()) return tensor.status().WithContext(named.name());
    values.Set(named.name(), *std::move(tensor));
  }
  return values;
}

template <typename Message>
std::string Encode(const Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream output(&bytes);
  google::protobuf::io::CodedOutputStream coded(&output);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

template <typename Message>
Result<Message> Decode(std::string_view bytes) {
  Message message;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return message;
  return InvalidArgumentError("these bytes are no " + Message().GetTypeName());
}

}  // namespace

std::string EncodeCall(const Call& call) {
  WireCall wire;
  wire.set_function(call.function);
  wire.set_signature(call.signature);
  for (const Argument& argument : call.arguments) {
    WireArgument* added = wire.add_arguments();
    if (const Tensor* tensor = std::get_if<Tensor>(&argument)) {
      ToWire(*tensor, added->mutable_tensor());
    } else {
      ToWire(std::get<Values>(argument), added->mutable_values());
    }
  }
  return Encode(wire);
}

Result<Call> DecodeCall(std::string_view bytes) {
  PSTRAIN_ASSIGN_OR_RETURN(const WireCall wire, Decode<WireCall>(bytes));
  Call call{wire.function(), wire.signature(), {}};
  for (const WireArgument& argument : wire.arguments()) {
    if (argument.has_tensor()) {
      PSTRAIN_ASSIGN_OR_RETURN(Tensor tensor, FromWire(argument.tensor()));
      call.arguments.emplace_back(std::move(tensor));
    } else if (argument.has_values()) {
      PSTRAIN_ASSIGN_OR_RETURN(Values values, FromWire(argument.values()));
      call.arguments.emplace_back(std::move(values));
    } else {
      return InvalidArgumentError("an argument of a call of " + wire.function() +
                                  " is neither a tensor nor named tensors");
    }
  }
  return call;
}

std::string EncodeValues(const Values& values) {
  WireValues wire;
  ToWire(values, &wire);
  return Encode(wire);
}

Result<Values> DecodeValues(std::string_view bytes) {
  PSTRAIN_ASSIGN_OR_RETURN(const WireValues wire, Decode<WireValues>(bytes));
  return FromWire(wire);
}

}  // namespace pstrain::program
