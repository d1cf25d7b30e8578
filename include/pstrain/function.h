#pragma once

#include <pstrain/function_options.h>
#include <pstrain/iterator.h>
#include <pstrain/resource.h>
#include <pstrain/status.h>
#include <pstrain/step.h>
#include <pstrain/tensor.h>
#include <pstrain/values.h>

#include <concepts>
#include <cstddef>
#include <functional>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace pstrain {

/// An argument of a call, as it travels: a scalar is a tensor without axes. A value.
using Argument = std::variant<Tensor, Values, Iterator, resource_internal::Handle>;

namespace function_internal {

template <typename T>
inline constexpr bool kIsResource = false;
template <typename T>
inline constexpr bool kIsResource<Resource<T>> = true;

template <typename T>
concept Parameter = std::same_as<T, Tensor> || std::same_as<T, Values> ||
                    std::same_as<T, Iterator> || kIsResource<T> || TensorElement<T>;

template <typename T>
Argument ToArgument(T value) {
  if constexpr (std::same_as<T, Values> || std::same_as<T, Iterator>) {
    return Argument(std::in_place_type<T>, std::move(value));
  } else if constexpr (kIsResource<T>) {
    return Argument(value.handle());
  } else {
    return Argument(std::in_place_type<Tensor>, std::move(value));
  }
}

/// INVALID_ARGUMENT: the argument is not a T.
template <typename T>
Result<T> FromArgument(const Argument& argument) {
  if constexpr (std::same_as<T, Values>) {
    if (const Values* values = std::get_if<Values>(&argument)) return *values;
    return InvalidArgumentError("another argument where named tensors are wanted");
  } else if constexpr (std::same_as<T, Iterator>) {
    if (const Iterator* iterator = std::get_if<Iterator>(&argument)) return *iterator;
    return InvalidArgumentError("another argument where an iterator is wanted");
  } else if constexpr (kIsResource<T>) {
    if (const auto* handle = std::get_if<resource_internal::Handle>(&argument)) return T(*handle);
    return InvalidArgumentError("another argument where a resource is wanted");
  } else {
    const Tensor* tensor = std::get_if<Tensor>(&argument);
    if (tensor == nullptr) return InvalidArgumentError("another argument where a tensor is wanted");
    if constexpr (std::same_as<T, Tensor>) {
      return *tensor;
    } else {
      return tensor->template scalar<T>();
    }
  }
}

template <typename T>
std::string TypeName() {
  if constexpr (std::same_as<T, Values>) {
    return "values";
  } else if constexpr (std::same_as<T, Iterator>) {
    return "iterator";
  } else if constexpr (kIsResource<T>) {
    return "resource";
  } else if constexpr (std::same_as<T, Tensor>) {
    return "tensor";
  } else {
    return DTypeName(kDTypeOf<T>);
  }
}

using Invoke = std::function<Result<Values>(Step& step, const std::vector<Argument>& arguments)>;
/// A name that is taken is remembered: ParameterServerStrategy::Create fails with ALREADY_EXISTS.
void Register(const std::string& name, const std::string& signature, const FunctionOptions& options,
              Invoke invoke, const std::source_location& where);

}  // namespace function_internal

/// A function that workers run, registered under a name: a constant of the program, made before
/// `main`, so that all roles of a program have it.
///
///   Result<Values> TrainStep(Step& step, const Tensor& x, float rate);
///   inline const Function kTrainStep{"TrainStep", TrainStep};
///
/// Parameters are Tensor, Values, float, double, std::int32_t, std::int64_t, bool and std::string,
/// by value or const reference, Resource by the same, and Iterator&. What it returns has 1 MiB at
/// most, with its metrics, as bytes; more is RESOURCE_EXHAUSTED, and the call has changed nothing.
/// A function may run again when its worker or a ps was lost, and several may run at a time in one
/// worker. One that throws fails with INTERNAL and the exception's text. Mirrors the worker_fn (a
/// tf.function) of ClusterCoordinator.schedule. Any thread.
template <typename... Params>
class Function {
  static_assert(
      (function_internal::Parameter<std::remove_cvref_t<Params>> && ...),
      "a parameter is a Tensor, Values, Iterator, Resource, float, double, int32_t, int64_t, bool "
      "or string");

 public:
  using Body = Result<Values> (*)(Step& step, Params... arguments);

  /// Two functions of one name: see ParameterServerStrategy::Create.
  Function(std::string name, Body body, const FunctionOptions& options = {},
           const std::source_location& where = std::source_location::current())
      : name_(std::move(name)), options_(options) {
    function_internal::Register(
        name_, Signature(), options,
        [body](Step& step, const std::vector<Argument>& arguments) {
          return Call(body, step, arguments, std::index_sequence_for<Params...>());
        },
        where);
  }

  const std::string& name() const { return name_; }
  const FunctionOptions& options() const { return options_; }
  /// The types of its parameters, as text: workers compare it with their own.
  static std::string Signature() {
    std::string text;
    ((text +=
      (text.empty() ? "" : ",") + function_internal::TypeName<std::remove_cvref_t<Params>>()),
     ...);
    return text;
  }
  /// What a call of it carries.
  template <typename... Args>
    requires(sizeof...(Args) == sizeof...(Params) &&
             (std::convertible_to<Args, std::remove_cvref_t<Params>> && ...))
  static std::vector<Argument> Pack(Args&&... arguments) {
    std::vector<Argument> packed;
    (packed.push_back(
         function_internal::ToArgument<std::remove_cvref_t<Params>>(std::forward<Args>(arguments))),
     ...);
    return packed;
  }

 private:
  template <std::size_t... I>
  static Result<Values> Call(Body body, Step& step, const std::vector<Argument>& arguments,
                             std::index_sequence<I...>) {
    if (arguments.size() != sizeof...(Params)) {
      return InvalidArgumentError("called with " + std::to_string(arguments.size()) +
                                  " arguments, and it takes " + std::to_string(sizeof...(Params)));
    }
    [[maybe_unused]] std::tuple<Result<std::remove_cvref_t<Params>>...> values(
        function_internal::FromArgument<std::remove_cvref_t<Params>>(arguments[I])...);
    Status status;
    ((status = status.ok() ? std::get<I>(values).status() : status), ...);
    PSTRAIN_RETURN_IF_ERROR(status);
    return body(step, static_cast<Params&&>(*std::get<I>(values))...);
  }

  std::string name_;
  FunctionOptions options_;
};

template <typename... Params>
Function(const char*, Result<Values> (*)(Step&, Params...)) -> Function<Params...>;
template <typename... Params>
Function(const char*, Result<Values> (*)(Step&, Params...), FunctionOptions) -> Function<Params...>;

}  // namespace pstrain
