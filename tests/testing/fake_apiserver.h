#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/text/json.h"
#include "operator/kube/resource.h"

namespace pstrain::testing {

struct FakeRequest {
  std::string method;
  std::string target;
  std::string content_type;
  std::string body;
};

struct FakeReply {
  int status = 200;
  std::string body;
  std::optional<int> retry_after;
};

/// Where a request goes: taken apart from its target.
struct FakeTarget {
  std::string collection;  // "GROUP/PLURAL"
  std::string name_space;
  std::string name;
  std::string subresource;
  std::map<std::string, std::string> query;
};
FakeTarget ParseTarget(std::string_view target);

/// What an apiserver does, as far as this tree uses it: objects of any kind with resource versions,
/// preconditions, merge patches, label selectors (a=b,c=d), paged lists and watches with history;
/// and what a real one cannot be asked for: see the faults below. No HTTP in it: a front
/// (fake_apiserver_http.h) or an in-process transport (in_process_transport.h) carries it. Any
/// thread.
class FakeApiserver {
 public:
  /// One watch. Poll from one thread.
  class Watch {
   public:
    struct Lines {
      std::vector<std::string> lines;  // each without its newline
      bool ended = false;
    };
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    /// What has happened since the last call.
    Lines Poll();

   private:
    friend class FakeApiserver;
    Watch(FakeApiserver& server, FakeTarget target, std::int64_t version,
          std::function<void()> on_news);
    FakeApiserver& server_;
    const FakeTarget target_;
    const std::function<void()> on_news_;
    std::int64_t version_;
    std::vector<std::string> injected_;
    bool ended_ = false;
  };

  FakeApiserver() = default;
  FakeApiserver(const FakeApiserver&) = delete;
  FakeApiserver& operator=(const FakeApiserver&) = delete;

  /// Anything but a watch.
  FakeReply Handle(const FakeRequest& request) PSTRAIN_EXCLUDES(mutex_);

  static bool IsWatch(const FakeRequest& request);
  /// A watch, or the reply that refuses it. `on_news` is called by any thread when Poll has
  /// something: it may not call back here, and is not called after the watch is gone.
  std::unique_ptr<Watch> OpenWatch(const FakeRequest& request, std::function<void()> on_news,
                                   FakeReply& refusal) PSTRAIN_EXCLUDES(mutex_);

  // What tests do behind the clients' backs.

  /// Creates or replaces an object, as somebody else would. Its resource version.
  std::string Put(const kube::Resource& resource, Json object) PSTRAIN_EXCLUDES(mutex_);
  void Remove(const kube::Resource& resource, const kube::ObjectKey& key) PSTRAIN_EXCLUDES(mutex_);
  /// What is served at a path that names no object, or a subresource; 404 unless it was put. The
  /// query of a request makes no difference.
  void PutPage(const std::string& path, std::string body) PSTRAIN_EXCLUDES(mutex_);
  std::optional<Json> Find(const kube::Resource& resource, const kube::ObjectKey& key) const
      PSTRAIN_EXCLUDES(mutex_);
  std::vector<Json> All(const kube::Resource& resource) const PSTRAIN_EXCLUDES(mutex_);

  /// From now on a delete of such an object sets its deletionTimestamp only, as for a pod with a
  /// grace period; Remove ends it.
  void LingerOnDelete(const kube::Resource& resource) PSTRAIN_EXCLUDES(mutex_);

  /// From now on no kind has a field of that name: a strict create of an object that has it, at any
  /// depth, is refused.
  void KnowNoField(std::string name) PSTRAIN_EXCLUDES(mutex_);

  /// The next `times` requests whose "METHOD target" contains `what` get this reply and do nothing.
  void FailNext(std::string what, FakeReply reply, int times = 1) PSTRAIN_EXCLUDES(mutex_);
  /// Forgets the history: older versions and continue tokens are 410 from now on, open watches get
  /// an ERROR event with that code.
  void ExpireVersions() PSTRAIN_EXCLUDES(mutex_);
  /// As a compaction that no watch has noticed yet: only new requests get 410.
  void ExpireVersionsQuietly() PSTRAIN_EXCLUDES(mutex_);
  /// A line into every open watch, whatever it is.
  void InjectLine(const std::string& line) PSTRAIN_EXCLUDES(mutex_);
  /// A bookmark with the version of now into every open watch.
  void SendBookmarks() PSTRAIN_EXCLUDES(mutex_);
  /// Ends every open watch in order.
  void EndWatches() PSTRAIN_EXCLUDES(mutex_);
  /// Raises the version without an event that a watch of ours sees.
  void PassTime(int versions) PSTRAIN_EXCLUDES(mutex_);

  /// "METHOD target" of all requests so far, watches too.
  std::vector<std::string> requests() const PSTRAIN_EXCLUDES(mutex_);
  int CountRequests(std::string_view what) const PSTRAIN_EXCLUDES(mutex_);
  /// Waits until `count` watches whose target contains `what` were opened; false after 10 s.
  bool WaitForWatches(std::string_view what, int count) PSTRAIN_EXCLUDES(mutex_);
  /// The same for requests that were answered.
  bool WaitForRequests(std::string_view what, int count) PSTRAIN_EXCLUDES(mutex_);
  /// Waits until `holds`, which is asked after each request; false after 10 s.
  bool WaitUntil(const std::function<bool()>& holds) PSTRAIN_EXCLUDES(mutex_);

 private:
  struct Change {
    std::int64_t version;
    std::string collection;
    std::string type;
    Json object;
  };
  struct Fault {
    std::string what;
    FakeReply reply;
    int times;
  };
  using Objects = std::map<kube::ObjectKey, Json>;

  FakeReply HandleLocked(const FakeRequest& request) PSTRAIN_REQUIRES(mutex_);
  bool WaitForLines(const std::vector<std::string>& lines, std::string_view what, int count)
      PSTRAIN_REQUIRES(mutex_);
  std::optional<FakeReply> NoteAndFault(const FakeRequest& request) PSTRAIN_REQUIRES(mutex_);
  std::optional<FakeReply> Page(const std::string& target) const PSTRAIN_REQUIRES(mutex_);
  FakeReply List(const FakeTarget& target) PSTRAIN_REQUIRES(mutex_);
  FakeReply Get(const FakeTarget& target) PSTRAIN_REQUIRES(mutex_);
  FakeReply Create(const FakeTarget& target, Json object) PSTRAIN_REQUIRES(mutex_);
  FakeReply Replace(const FakeTarget& target, Json object) PSTRAIN_REQUIRES(mutex_);
  FakeReply Patch(const FakeTarget& target, const FakeRequest& request, const Json& patch)
      PSTRAIN_REQUIRES(mutex_);
  FakeReply Delete(const FakeTarget& target, const Json& options) PSTRAIN_REQUIRES(mutex_);
  Json& Store(const std::string& collection, const kube::ObjectKey& key, Json object)
      PSTRAIN_REQUIRES(mutex_);
  void Erase(const std::string& collection, const kube::ObjectKey& key) PSTRAIN_REQUIRES(mutex_);
  std::string BookmarkLine() const PSTRAIN_REQUIRES(mutex_);
  void InjectLocked(const std::string& line) PSTRAIN_REQUIRES(mutex_);
  void TellWatches() const PSTRAIN_REQUIRES(mutex_);

  mutable Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Objects> collections_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<std::string, std::string> pages_ PSTRAIN_GUARDED_BY(mutex_);
  std::vector<Change> history_ PSTRAIN_GUARDED_BY(mutex_);
  std::vector<Watch*> watches_ PSTRAIN_GUARDED_BY(mutex_);
  std::vector<Fault> faults_ PSTRAIN_GUARDED_BY(mutex_);
  std::set<std::string> lingering_ PSTRAIN_GUARDED_BY(mutex_);
  std::set<std::string> unknown_fields_ PSTRAIN_GUARDED_BY(mutex_);
  std::vector<std::string> requests_ PSTRAIN_GUARDED_BY(mutex_);
  std::vector<std::string> opened_ PSTRAIN_GUARDED_BY(mutex_);
  std::int64_t version_ PSTRAIN_GUARDED_BY(mutex_) = 100;
  std::int64_t oldest_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::int64_t next_uid_ PSTRAIN_GUARDED_BY(mutex_) = 1;
};

/// A Status object as an apiserver sends it.
std::string StatusBody(int code, const std::string& reason, const std::string& message);

}  // namespace pstrain::testing
