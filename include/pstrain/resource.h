#pragma once

#include <pstrain/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <typeinfo>
#include <utility>

namespace pstrain {

namespace program {
class ResourceSource;
struct ResourceAccess;
}  // namespace program

/// For which worker a resource is made; TensorFlow does not tell it. A value.
struct WorkerContext {
  /// From 0 to num_workers - 1.
  std::int64_t worker_index = 0;
  /// Workers of the strategy.
  std::int64_t num_workers = 1;
};

namespace resource_internal {

using Make = std::function<Result<std::shared_ptr<void>>(const WorkerContext& context)>;
/// A name that is taken is remembered: ParameterServerStrategy::Create fails with ALREADY_EXISTS.
void Register(const std::string& name, const std::type_info& type, Make make,
              const std::source_location& where);

/// A Resource, whatever its type, as it travels with a call. A value; any thread.
class Handle {
 public:
  /// As Resource::Get; INVALID_ARGUMENT: it is of another type.
  Result<std::shared_ptr<void>> Get(const std::type_info& type) const;
  /// Of the same function.
  friend bool operator==(const Handle& a, const Handle& b) {
    return a.name_ == b.name_ && a.workers_ == b.workers_;
  }

 private:
  friend struct program::ResourceAccess;
  Handle(std::string name, std::uint32_t workers, program::ResourceSource* source)
      : name_(std::move(name)), workers_(workers), source_(source) {}

  std::string name_;
  std::uint32_t workers_;
  /// Null: of no worker.
  program::ResourceSource* source_;
};

}  // namespace resource_internal

/// An object that each worker has for itself, for instance a table that it has read or a connection
/// that it keeps: an argument of functions, which are given the one of the worker that runs them.
/// Mirrors the PerWorkerValues that TensorFlow's ClusterCoordinator._create_per_worker_resources
/// returns; what main wants to know of it a function returns.
///
///   Result<Values> Annotate(Step& step, const Resource<Vocabulary>& words, std::int64_t id) {
///     PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<Vocabulary> vocabulary, words.Get());
///
/// It is not part of the state of the run: a worker that is replaced has a new one, and no
/// checkpoint has it. What has to count once belongs into a variable or a metric.
///
/// A value: copies are of the same. Any thread, also of what Get returns: a worker runs several
/// functions at a time.
template <typename T>
class Resource {
 public:
  explicit Resource(resource_internal::Handle handle) : handle_(std::move(handle)) {}

  /// In a function: the worker's own. The first call of the worker process that asks for it has it
  /// made, and those that ask meanwhile wait. The error of the resource function, with its name;
  /// the next call that asks has it made again. UNIMPLEMENTED: outside of a function.
  Result<std::shared_ptr<T>> Get() const {
    PSTRAIN_ASSIGN_OR_RETURN(std::shared_ptr<void> object, handle_.Get(typeid(T)));
    return std::static_pointer_cast<T>(std::move(object));
  }

  const resource_internal::Handle& handle() const { return handle_; }
  friend bool operator==(const Resource&, const Resource&) = default;

 private:
  resource_internal::Handle handle_;
};

/// A function that makes a resource, registered under a name: a constant of the program, made
/// before `main`, so that all roles of a program have it. Mirrors the fn of
/// _create_per_worker_resources. One that throws fails with INTERNAL and the exception's text, one
/// that returns null with INTERNAL. Two of one name: see ParameterServerStrategy::Create. Any
/// thread of a worker calls it.
///
///   Result<std::shared_ptr<Vocabulary>> ReadWords(const WorkerContext&);
///   inline const ResourceFunction kWords{"Words", ReadWords};
template <typename T>
class ResourceFunction {
 public:
  using Body = Result<std::shared_ptr<T>> (*)(const WorkerContext& context);

  ResourceFunction(std::string name, Body body,
                   const std::source_location& where = std::source_location::current())
      : name_(std::move(name)) {
    resource_internal::Register(
        name_, typeid(T),
        [body](const WorkerContext& context) -> Result<std::shared_ptr<void>> {
          PSTRAIN_ASSIGN_OR_RETURN(std::shared_ptr<T> made, body(context));
          return std::shared_ptr<void>(std::move(made));
        },
        where);
  }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

template <typename T>
ResourceFunction(const char*, Result<std::shared_ptr<T>> (*)(const WorkerContext&))
    -> ResourceFunction<T>;

}  // namespace pstrain
