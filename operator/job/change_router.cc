#include "operator/job/change_router.h"

#include <optional>
#include <string>

namespace pstrain::job {
namespace {

struct Owner {
  kube::ObjectKey key;
  std::string uid;
  friend bool operator==(const Owner&, const Owner&) = default;
};

/// The job that a child belongs to, by its owner reference.
template <typename Object>
std::optional<Owner> OwnerOf(const Object& child) {
  const kube::OwnerReference* owner = child ? child->meta.Controller() : nullptr;
  if (owner == nullptr) return std::nullopt;
  return Owner{.key = {.name_space = child->meta.key.name_space, .name = owner->name},
               .uid = owner->uid};
}

/// Calls `visit` for the owner before and, if it is another, the one after.
template <typename Object, typename Visit>
void ForOwners(const Object& before, const Object& after, const Visit& visit) {
  const std::optional<Owner> former = OwnerOf(before);
  const std::optional<Owner> present = OwnerOf(after);
  if (former) visit(*former);
  if (present && present != former) visit(*present);
}

}  // namespace

void ChangeRouter::JobChanged(const JobStore::Object& before, const JobStore::Object& after) {
  if (before && (!after || after->meta.uid != before->meta.uid)) {
    observations_.Forget(before->meta.uid);
  }
  enqueue_((after ? after : before)->meta.key);
}

void ChangeRouter::PodChanged(const JobStore& jobs, const PodStore::Object& before,
                              const PodStore::Object& after) {
  bool counts = false;
  ForOwners(before, after, [&](const Owner& owner) {
    const JobStore::Object job = jobs.Get(owner.key);
    counts |= job && job->meta.uid == owner.uid;
  });
  if (counts) observations_.PodChanged(before, after);
  ForOwners(before, after, [this](const Owner& owner) { enqueue_(owner.key); });
}

void ChangeRouter::ChildChanged(const ChildStore::Object& before, const ChildStore::Object& after) {
  ForOwners(before, after, [this](const Owner& owner) { enqueue_(owner.key); });
}

}  // namespace pstrain::job
