#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/text/json.h"
#include "operator/controller/watcher.h"
#include "operator/kube/object_meta.h"

namespace pstrain::kube {

/// One object as the cache holds it: never changed, only replaced. An object whose content could
/// not be decoded is here too, with the reason: it disturbs no other.
template <typename T>
struct Cached {
  ObjectMeta meta;
  Result<T> object;
};

/// All objects of one kind, as last seen, by key and by the uid of the controller that owns them.
/// Written by one Watcher's thread; read by any thread. Readers see a whole list or the one before,
/// never half of one: what is missing from a new list disappears as that list ends.
template <typename T>
class Store final : public WatchHandler {
 public:
  using Object = std::shared_ptr<const Cached<T>>;

  struct Options {
    /// The fields that we use, from an object. Thread: the watcher's.
    std::function<Result<T>(const Json&)> decode;
    /// Annotations to keep, by the beginning of their names.
    std::vector<std::string> annotation_prefixes;
    /// Called after the store shows the change, without its lock, on the watcher's thread; either
    /// may be null, not both. A relist calls it for what differs only.
    std::function<void(const Object& before, const Object& after)> on_change;
  };

  explicit Store(Options options) : options_(std::move(options)) {}

  /// nullptr when there is none.
  Object Get(const ObjectKey& key) const PSTRAIN_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto at = objects_.find(key);
    return at == objects_.end() ? nullptr : at->second;
  }

  /// Those whose controller has this uid, in the order of their keys.
  std::vector<Object> ByOwner(const std::string& owner_uid) const PSTRAIN_EXCLUDES(mutex_) {
    std::vector<Object> owned;
    MutexLock lock(mutex_);
    const auto keys = by_owner_.find(owner_uid);
    if (keys == by_owner_.end()) return owned;
    for (const ObjectKey& key : keys->second) owned.push_back(objects_.at(key));
    return owned;
  }

  /// All, in the order of their keys.
  std::vector<Object> All() const PSTRAIN_EXCLUDES(mutex_) {
    std::vector<Object> all;
    MutexLock lock(mutex_);
    all.reserve(objects_.size());
    for (const auto& entry : objects_) all.push_back(entry.second);
    return all;
  }

  std::size_t size() const PSTRAIN_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return objects_.size();
  }

  void OnListBegin() override { listed_.clear(); }

  void OnListed(const Json& object) override {
    if (Object cached = Decode(object)) listed_[cached->meta.key] = std::move(cached);
  }

  void OnListEnd() override {
    std::map<ObjectKey, Object> before;
    const std::map<ObjectKey, Object> after = listed_;
    {
      MutexLock lock(mutex_);
      before.swap(objects_);
      objects_.swap(listed_);
      by_owner_.clear();
      for (const auto& entry : objects_) Index(*entry.second);
    }
    listed_.clear();
    TellDifferences(before, after);
  }

  void OnApplied(const Json& object) override {
    const Object after = Decode(object);
    if (!after) return;
    Object before;
    {
      MutexLock lock(mutex_);
      Object& place = objects_[after->meta.key];
      before = std::move(place);
      place = after;
      if (before) Unindex(*before);
      Index(*after);
    }
    Tell(before, after);
  }

  void OnDeleted(const Json& object) override {
    const auto meta = DecodeObjectMeta(object, options_.annotation_prefixes);
    if (!meta.ok()) return LogUndecodable(meta.status());
    Object before;
    {
      MutexLock lock(mutex_);
      const auto at = objects_.find(meta->key);
      if (at == objects_.end()) return;
      before = std::move(at->second);
      objects_.erase(at);
      Unindex(*before);
    }
    Tell(before, nullptr);
  }

 private:
  /// nullptr, and a line in the log, when not even the metadata can be read.
  Object Decode(const Json& object) const {
    auto meta = DecodeObjectMeta(object, options_.annotation_prefixes);
    if (!meta.ok()) {
      LogUndecodable(meta.status());
      return nullptr;
    }
    return std::make_shared<const Cached<T>>(
        Cached<T>{std::move(meta).value(), options_.decode(object)});
  }

  static void LogUndecodable(const Status& status) {
    LogWarning("cache", "object left out: its metadata cannot be read", {{"error", status}});
  }

  void Index(const Cached<T>& object) PSTRAIN_REQUIRES(mutex_) {
    if (const OwnerReference* owner = object.meta.Controller()) {
      by_owner_[owner->uid].insert(object.meta.key);
    }
  }

  void Unindex(const Cached<T>& object) PSTRAIN_REQUIRES(mutex_) {
    const OwnerReference* owner = object.meta.Controller();
    if (owner == nullptr) return;
    const auto keys = by_owner_.find(owner->uid);
    if (keys == by_owner_.end()) return;
    keys->second.erase(object.meta.key);
    if (keys->second.empty()) by_owner_.erase(keys);
  }

  void Tell(const Object& before, const Object& after) const PSTRAIN_EXCLUDES(mutex_) {
    if (options_.on_change) options_.on_change(before, after);
  }

  void TellDifferences(const std::map<ObjectKey, Object>& before,
                       const std::map<ObjectKey, Object>& after) const PSTRAIN_EXCLUDES(mutex_) {
    for (const auto& [key, object] : before) {
      if (!after.contains(key)) Tell(object, nullptr);
    }
    for (const auto& [key, object] : after) {
      const auto at = before.find(key);
      const Object old = at == before.end() ? nullptr : at->second;
      const bool same = old && old->meta.resource_version == object->meta.resource_version &&
                        old->meta.uid == object->meta.uid;
      if (!same) Tell(old, object);
    }
  }

  const Options options_;
  std::map<ObjectKey, Object> listed_;  // the watcher's thread only
  mutable Mutex mutex_;
  std::map<ObjectKey, Object> objects_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<std::string, std::set<ObjectKey>, std::less<>> by_owner_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::kube
