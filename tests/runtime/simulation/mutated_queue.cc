// Stands between what a program has scheduled and its chief (mutated_functions.txt).
#include "tests/runtime/simulation/mutated_queue.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/chief/chief_job.h"
#include "runtime/chief/grants/read_only_work.h"
#include "runtime/chief/protocol/closure_source.h"
#include "runtime/requests/work_kind.h"
#include "tests/runtime/simulation/mutated_functions.h"
#include "tests/runtime/simulation/mutations.h"

namespace pstrain::simulation {
namespace {

/// By queue, and number of the call.
std::map<std::pair<const ClosureQueue*, ClosureQueue::Id>, std::string> first_results;

// Private members may be named where a template is instantiated.
void Forget(ClosureSource& source, std::uint64_t number);
template <auto kFirst, auto kClosures>
struct Log {
  friend void Forget(ClosureSource& source, std::uint64_t number) {
    static const auto nothing = std::make_shared<const WorkContent>(WorkContent{kClosureWork, {}});
    if (number >= source.*kFirst) (source.*kClosures)[number - source.*kFirst].content = nothing;
  }
};
template struct Log<&ClosureSource::first_, &ClosureSource::closures_>;

/// Grants calls that change nothing as if they were of the first phase.
class OfTheFirstPhase final : public ReadOnlyWork {
 public:
  explicit OfTheFirstPhase(std::shared_ptr<ReadOnlyWork> work) : work_(std::move(work)) {}

  std::vector<Grant> Grants(std::uint32_t worker, std::size_t want,
                            CommitProtocol& protocol) override {
    std::vector<Grant> grants = work_->Grants(worker, want, protocol);
    if (ActiveMutations().looks_do_not_wait) {
      for (Grant& grant : grants) grant.clear_after();
    }
    return grants;
  }
  std::optional<WorkId> Reported(WorkId attempt, const Report& report,
                                 const CommitProtocol& protocol) override {
    return work_->Reported(attempt, report, protocol);
  }
  void Returned(WorkId attempt) override { work_->Returned(attempt); }
  void SetRegistered(std::uint32_t worker, bool registered) override {
    work_->SetRegistered(worker, registered);
  }
  std::uint64_t Open(CommitProtocol& protocol) const override { return work_->Open(protocol); }
  bool OpenFor(std::uint32_t worker, CommitProtocol& protocol) const override {
    return work_->OpenFor(worker, protocol);
  }
  bool Done() const override { return work_->Done(); }

 private:
  std::shared_ptr<ReadOnlyWork> work_;
};

}  // namespace

std::optional<std::string> ResultOfFirstReport(const ClosureQueue& queue, ClosureQueue::Id id) {
  const auto found = first_results.find({&queue, id});
  return found == first_results.end() ? std::nullopt : std::optional(found->second);
}

void RealDescribe(ClosureQueue* queue, ChiefJob::Work* work) REAL_QueueDescribe;
void MutatedDescribe(ClosureQueue* queue, ChiefJob::Work* work) MUTATED_QueueDescribe;
void MutatedDescribe(ClosureQueue* queue, ChiefJob::Work* work) {
  RealDescribe(queue, work);
  // Another one may have lain there.
  std::erase_if(first_results, [queue](const auto& entry) { return entry.first.first == queue; });
  work->read_only = std::make_shared<OfTheFirstPhase>(work->read_only);
  auto& source = static_cast<ClosureSource&>(*work->source);
  work->reported = [queue, &source, told = work->reported](WorkId work_id, const Report& report,
                                                           bool committed,
                                                           const CommitProtocol& protocol) {
    const ClosureQueue::Id id = source.Number(work_id);
    const bool came_to_a_shard = report.shards().count() > 0;
    if (came_to_a_shard && !report.has_error())
      first_results.try_emplace({queue, id}, report.result());
    ChiefJob::Heard heard;
    if (committed || !ActiveMutations().last_result_counts) {
      Report as_told = report;
      if (report.has_error() && ActiveMutations().lost_updates_do_not_count) as_told.clear_result();
      heard = told(work_id, as_told, committed, protocol);
    }
    if (ActiveMutations().returns_are_ignored) heard.return_to_mark.clear();
    if (committed && ActiveMutations().log_is_freed_at_commit) Forget(source, id);
    return heard;
  };
}

}  // namespace pstrain::simulation
