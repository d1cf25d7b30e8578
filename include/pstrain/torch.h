#pragma once

#include <pstrain/dtype.h>
#include <pstrain/indexed_slices.h>
#include <pstrain/shape.h>
#include <pstrain/status.h>
#include <pstrain/step.h>
#include <pstrain/tensor.h>
#include <pstrain/variable.h>
#include <torch/types.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// Optional: gradients by the autograd of libtorch, for programs that have it (Debian 12:
/// libtorch-dev). pstrain does not link to it; the program does. Pure functions but for Backward;
/// any thread. What libtorch throws comes back as INTERNAL with its text.
namespace pstrain {

namespace torch_internal {

inline std::optional<DType> ToDType(torch::ScalarType type) {
  switch (type) {
    case torch::kFloat32:
      return DType::kFloat32;
    case torch::kFloat64:
      return DType::kFloat64;
    case torch::kInt32:
      return DType::kInt32;
    case torch::kInt64:
      return DType::kInt64;
    case torch::kBool:
      return DType::kBool;
    default:
      return std::nullopt;
  }
}

/// REQUIRES: dtype != kString.
inline torch::ScalarType ToScalarType(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return torch::kFloat64;
    case DType::kInt32:
      return torch::kInt32;
    case DType::kInt64:
      return torch::kInt64;
    case DType::kBool:
      return torch::kBool;
    default:
      return torch::kFloat32;
  }
}

/// Of a callable that returns a Status or a Result, and calls libtorch.
template <typename Callable>
auto Guarded(const Callable& callable) -> decltype(callable()) {
  try {
    return callable();
  } catch (const c10::Error& error) {
    return InternalError(std::string("libtorch: ") + error.what_without_backtrace());
  } catch (const std::exception& error) {
    return InternalError(std::string("libtorch: ") + error.what());
  }
}

/// A gradient as a step takes it.
using TakenGradient = std::variant<Tensor, IndexedSlices>;

}  // namespace torch_internal

/// The tensor's elements as a tensor of libtorch. Nothing is copied, and they live as long as what
/// is returned. They must not be written to: clone() what is. UNIMPLEMENTED: kString.
inline Result<torch::Tensor> ToTorch(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString) {
    return UnimplementedError("tensor of " + tensor.ToString() + ": libtorch has no strings");
  }
  return torch_internal::Guarded([&]() -> Result<torch::Tensor> {
    const auto options = torch::TensorOptions(torch_internal::ToScalarType(tensor.dtype()));
    if (tensor.empty()) return torch::empty(tensor.shape().sizes(), options);
    void* data = const_cast<std::byte*>(tensor.bytes().data());
    return torch::from_blob(
        data, tensor.shape().sizes(), [owner = tensor.owner()](void*) {}, options);
  });
}

/// The same as a parameter: a leaf of which Backward takes the gradient. INVALID_ARGUMENT: the
/// dtype is neither float32 nor float64.
inline Result<torch::Tensor> ToParameter(const Tensor& tensor) {
  if (tensor.dtype() != DType::kFloat32 && tensor.dtype() != DType::kFloat64) {
    return InvalidArgumentError("tensor of " + tensor.ToString() +
                                ": a parameter is float32 or float64");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const torch::Tensor values, ToTorch(tensor));
  return torch_internal::Guarded(
      [&]() -> Result<torch::Tensor> { return values.set_requires_grad(true); });
}

/// The elements of a tensor of libtorch. Nothing is copied where they are contiguous; nobody may
/// write to them then. INVALID_ARGUMENT: no tensor. UNIMPLEMENTED: it is not on the CPU, is not
/// dense, or is of another dtype than float32, float64, int32, int64 and bool.
inline Result<Tensor> FromTorch(const torch::Tensor& tensor) {
  return torch_internal::Guarded([&]() -> Result<Tensor> {
    if (!tensor.defined()) return InvalidArgumentError("an undefined tensor of libtorch");
    const std::optional<DType> dtype = torch_internal::ToDType(tensor.scalar_type());
    if (!dtype) {
      return UnimplementedError(std::string("a tensor of libtorch of ") +
                                torch::toString(tensor.scalar_type()) +
                                ": convert it to float32, float64, int32, int64 or bool");
    }
    if (!tensor.device().is_cpu()) {
      return UnimplementedError("a tensor of libtorch on " + tensor.device().str() +
                                ": copy it to the CPU");
    }
    if (tensor.layout() != torch::kStrided) {
      return UnimplementedError("a tensor of libtorch that is not dense: call to_dense()");
    }
    auto kept = std::make_shared<torch::Tensor>(tensor.detach().resolve_neg().contiguous());
    Shape shape(kept->sizes().vec());
    if (kept->numel() == 0) return Tensor::Zeros(*dtype, std::move(shape));
    const void* data = kept->data_ptr();
    return Tensor::Over(*dtype, std::move(shape), data, std::move(kept));
  });
}

/// A variable, and the parameter made of what was read of it; in TensorFlow both are a tf.Variable.
struct TorchParameter {
  VariableRef variable;
  /// A leaf on the CPU that requires a gradient, as ToParameter makes it: of the whole variable, or
  /// with `ids` of the rows that Step::Lookup has returned for these ids.
  torch::Tensor parameter;
  std::optional<Tensor> ids = {};
};

namespace torch_internal {

/// What `.grad` of the parameter says, which is undefined afterwards.
inline Result<TakenGradient> TakeGradient(const TorchParameter& from) {
  const torch::Tensor gradient = from.parameter.grad();
  if (!gradient.defined()) {
    return FailedPreconditionError(
        "it has no gradient: the loss does not depend on it, or it is no leaf that requires one "
        "(ToParameter makes one)");
  }
  from.parameter.mutable_grad().reset();
  if (!gradient.is_sparse()) {
    PSTRAIN_ASSIGN_OR_RETURN(Tensor values, FromTorch(gradient));
    if (!from.ids) return TakenGradient(std::move(values));
    return TakenGradient(IndexedSlices{*from.ids, std::move(values)});
  }
  if (from.ids || gradient.sparse_dim() != 1) {
    return UnimplementedError("its gradient is sparse in more than the rows of a whole variable");
  }
  PSTRAIN_ASSIGN_OR_RETURN(Tensor indices, FromTorch(gradient._indices()[0]));
  PSTRAIN_ASSIGN_OR_RETURN(Tensor values, FromTorch(gradient._values()));
  return TakenGradient(IndexedSlices{std::move(indices), std::move(values)});
}

inline Status CheckParameter(const torch::Tensor& parameter) {
  if (!parameter.defined()) return InvalidArgumentError("it is an undefined tensor");
  if (!parameter.device().is_cpu()) {
    return UnimplementedError("it is on " + parameter.device().str() +
                              ": make the parameter on the CPU, and compute with a copy of it");
  }
  return {};
}

}  // namespace torch_internal

/// Computes the gradient of the loss, and says that of each parameter to its variable
/// (Step::Gradient): one step of the variable's optimizer, when the function has returned. Mirrors
/// tape.gradient with optimizer.apply_gradients.
///
///   PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kW, kB));
///   PSTRAIN_ASSIGN_OR_RETURN(const torch::Tensor w, ToParameter(read[0]));
///   PSTRAIN_ASSIGN_OR_RETURN(const torch::Tensor b, ToParameter(read[1]));
///   const torch::Tensor loss = ...;
///   PSTRAIN_RETURN_IF_ERROR(Backward(step, loss, {{kW, w}, {kB, b}}));
///
/// A parameter of rows has the ids of Step::Lookup with it, {kTable, rows, ids}: gradients of ids
/// that are the same are summed. So are those of a whole variable that an embedding with
/// `sparse=true` has read: of these only the rows in the batch are sent. The gradients are taken:
/// `.grad` of the parameters is undefined afterwards.
///
/// On an error, which names the variable, nothing is said to the step. INVALID_ARGUMENT: an
/// undefined loss, one of more than one element, an undefined parameter. FAILED_PRECONDITION: the
/// loss requires no gradient, or a parameter has none after all. UNIMPLEMENTED: a parameter that is
/// not on the CPU, or a gradient as FromTorch says. INTERNAL: what libtorch has thrown. Shapes and
/// dtypes that are not the variable's are the function's error, as Step::Gradient says. Used by the
/// thread that runs the function.
inline Status Backward(Step& step, const torch::Tensor& loss,
                       const std::vector<TorchParameter>& parameters) {
  return torch_internal::Guarded([&]() -> Status {
    if (!loss.defined()) return InvalidArgumentError("Backward: the loss is an undefined tensor");
    if (loss.numel() != 1) {
      return InvalidArgumentError("Backward: the loss has " + std::to_string(loss.numel()) +
                                  " elements, and one is wanted: take the mean or the sum");
    }
    if (!loss.requires_grad()) {
      return FailedPreconditionError(
          "Backward: the loss depends on nothing that requires a "
          "gradient");
    }
    for (const auto& [variable, parameter, ids] : parameters) {
      const Status right = torch_internal::CheckParameter(parameter);
      if (!right.ok()) return right.WithContext("Backward: parameter of " + variable.name);
    }
    loss.backward();
    std::vector<torch_internal::TakenGradient> gradients;
    for (const TorchParameter& each : parameters) {
      auto gradient = torch_internal::TakeGradient(each);
      if (!gradient.ok()) {
        return gradient.status().WithContext("Backward: parameter of " + each.variable.name);
      }
      gradients.push_back(std::move(*gradient));
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      std::visit([&](const auto& gradient) { step.Gradient(parameters[i].variable, gradient); },
                 gradients[i]);
    }
    return {};
  });
}

}  // namespace pstrain
