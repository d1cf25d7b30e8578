#include "library/data/resources/resource_table.h"

#include <typeindex>

#include "base/log.h"
#include "library/call_guarded.h"

namespace pstrain {
namespace program {
namespace {

Result<std::shared_ptr<void>> Make(const ResourceMaker& maker, const WorkerContext& context) {
  PSTRAIN_ASSIGN_OR_RETURN(std::shared_ptr<void> made, CallGuarded("the resource function", [&] {
                             return maker.make(context);
                           }));
  if (made == nullptr) return InternalError("the resource function has returned null");
  return made;
}

}  // namespace

Result<std::shared_ptr<void>> ResourceTable::Get(const std::string& name, std::uint32_t workers,
                                                 const std::type_info& type) {
  PSTRAIN_ASSIGN_OR_RETURN(const ResourceMaker maker, functions_.Find(name));
  if (maker.type != std::type_index(type)) {
    return InvalidArgumentError("resource " + name +
                                " is of another type than the function's parameter; start "
                                "coordinator and workers from one build");
  }
  std::shared_ptr<Slot> slot;
  {
    const MutexLock lock(mutex_);
    std::shared_ptr<Slot>& kept = slots_[name];
    if (kept == nullptr) kept = std::make_shared<Slot>();
    slot = kept;
  }
  const MutexLock lock(slot->mutex);
  if (slot->object != nullptr) return slot->object;
  Result<std::shared_ptr<void>> made =
      Make(maker, {.worker_index = worker_index_, .num_workers = workers});
  if (!made.ok()) return made.status().WithContext("resource " + name);
  LogInfo("worker", "a resource is made", {{"resource", name}});
  slot->object = *std::move(made);
  return slot->object;
}

}  // namespace program

Result<std::shared_ptr<void>> resource_internal::Handle::Get(const std::type_info& type) const {
  if (source_ != nullptr) return source_->Get(name_, workers_, type);
  return UnimplementedError("resource " + name_ +
                            " is a worker's: give it to a function, and ask there");
}

}  // namespace pstrain
