#include "library/payload.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "library/data/iterator_state.h"
#include "library/data/resources/resource_source.h"
#include "library/payload.pb.h"

namespace pstrain::program {
namespace {

using resource_internal::Handle;

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

void ToWire(const ElementBinding& binding, WireElements* wire) {
  wire->set_dataset(binding.dataset);
  wire->set_workers(binding.workers);
  wire->set_pipeline(binding.pipeline);
  wire->set_pass(binding.pass);
  wire->set_first(binding.first);
  wire->set_count(binding.count);
  if (binding.size) wire->set_size(*binding.size);
}

Result<Iterator> FromWire(const WireElements& wire) {
  if (wire.count() == 0 || wire.pipeline() >= wire.workers() ||
      wire.first() > std::numeric_limits<std::uint64_t>::max() - wire.count()) {
    return InvalidArgumentError("elements of dataset " + wire.dataset() + " that cannot be");
  }
  ElementBinding binding{.dataset = wire.dataset(),
                         .workers = wire.workers(),
                         .pipeline = wire.pipeline(),
                         .pass = wire.pass(),
                         .first = wire.first(),
                         .count = wire.count()};
  if (wire.has_size()) binding.size = wire.size();
  return BoundTo(std::move(binding), nullptr);
}

void ToWire(const Argument& argument, WireArgument* wire) {
  if (const Tensor* tensor = std::get_if<Tensor>(&argument)) {
    ToWire(*tensor, wire->mutable_tensor());
  } else if (const Values* values = std::get_if<Values>(&argument)) {
    ToWire(*values, wire->mutable_values());
  } else if (const Handle* resource = std::get_if<Handle>(&argument)) {
    wire->mutable_resource()->set_function(ResourceAccess::NameOf(*resource));
    wire->mutable_resource()->set_workers(ResourceAccess::WorkersOf(*resource));
  } else if (const auto binding = IteratorAccess::StateOf(std::get<Iterator>(argument)).binding()) {
    ToWire(*binding, wire->mutable_elements());
  }
}

Result<Argument> FromWire(const WireArgument& wire) {
  switch (wire.kind_case()) {
    case WireArgument::kTensor: {
      PSTRAIN_ASSIGN_OR_RETURN(Tensor tensor, FromWire(wire.tensor()));
      return Argument(std::move(tensor));
    }
    case WireArgument::kValues: {
      PSTRAIN_ASSIGN_OR_RETURN(Values values, FromWire(wire.values()));
      return Argument(std::move(values));
    }
    case WireArgument::kElements: {
      PSTRAIN_ASSIGN_OR_RETURN(Iterator iterator, FromWire(wire.elements()));
      return Argument(std::move(iterator));
    }
    case WireArgument::kResource:
      return Argument(
          ResourceAccess::Make(wire.resource().function(), wire.resource().workers(), nullptr));
    case WireArgument::KIND_NOT_SET:
      break;
  }
  return InvalidArgumentError("is neither a tensor nor named tensors nor elements nor a resource");
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
    ToWire(argument, wire.add_arguments());
  }
  return Encode(wire);
}

Result<Call> DecodeCall(std::string_view bytes) {
  PSTRAIN_ASSIGN_OR_RETURN(const WireCall wire, Decode<WireCall>(bytes));
  Call call{wire.function(), wire.signature(), {}};
  for (const WireArgument& argument : wire.arguments()) {
    Result<Argument> decoded = FromWire(argument);
    if (!decoded.ok()) {
      return decoded.status().WithContext("an argument of a call of " + wire.function());
    }
    call.arguments.push_back(*std::move(decoded));
  }
  return call;
}

std::string EncodeResult(const CallResult& result) {
  WireResult wire;
  if (!result.values.empty()) ToWire(result.values, wire.mutable_values());
  for (const MetricSum& metric : result.metrics) {
    WireMetric* added = wire.add_metrics();
    added->set_name(metric.name);
    added->set_numerator(metric.numerator);
    added->set_denominator(metric.denominator);
  }
  return Encode(wire);
}

Result<CallResult> DecodeResult(std::string_view bytes) {
  PSTRAIN_ASSIGN_OR_RETURN(const WireResult wire, Decode<WireResult>(bytes));
  CallResult result;
  PSTRAIN_ASSIGN_OR_RETURN(result.values, FromWire(wire.values()));
  for (const WireMetric& metric : wire.metrics()) {
    if (!std::isfinite(metric.numerator()) || !std::isfinite(metric.denominator())) {
      return InvalidArgumentError("the sum of metric " + metric.name() + " is no number");
    }
    result.metrics.push_back({metric.name(), metric.numerator(), metric.denominator()});
  }
  return result;
}

}  // namespace pstrain::program
