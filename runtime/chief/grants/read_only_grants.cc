#include "runtime/chief/grants/read_only_grants.h"

#include <optional>
#include <utility>

#include "base/log.h"
#include "runtime/chief/chief_setup.h"
#include "runtime/chief/grants/read_only_work.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {

std::uint64_t ReadOnlyGrants::TermOf(WorkId work_id) const {
  const bool attempt = chief_.setup.work.read_only && IsReadOnlyAttempt(work_id);
  return attempt ? chief_.chief_term() : chief_.protocol.GrantTerm(work_id);
}

bool ReadOnlyGrants::MayGrant() const {
  return chief_.setup.work.read_only && chief_.protocol.AllActive() && !chief_.protocol.draining();
}

std::size_t ReadOnlyGrants::ShareOf(std::size_t want) const {
  return MayGrant() ? (want + 1) / 2 : 0;
}

void ReadOnlyGrants::Add(std::uint32_t worker, std::size_t most, GrantedWork* granted,
                         PollWorkerReply* reply) const {
  if (most == 0 || !MayGrant()) return;
  for (Grant& grant : chief_.setup.work.read_only->Grants(worker, most, chief_.protocol)) {
    grant.set_chief_term(chief_.chief_term());
    granted->Grant(FromWire(grant.work_id()));
    *reply->add_grants() = std::move(grant);
  }
}

// Rule 4, of what a shard has said about others' work.
bool ReadOnlyGrants::Absorb(std::uint32_t worker, const Report& report, GrantedWork* granted,
                            GrantWatch* watch) const {
  const WorkId attempt = FromWire(report.work_id());
  const auto& work = chief_.setup.work.read_only;
  if (!work || !IsReadOnlyAttempt(attempt)) return false;
  granted->Reported(attempt);
  const std::optional<WorkId> after = work->Reported(attempt, report, chief_.protocol);
  if (!after) {
    watch->Committed(worker);
    return true;
  }
  const ShardSet early = FromWire(report.early(), chief_.setup.run.shards());
  for (const ShardId shard : chief_.protocol.Early(*after, {report.membership(), early})) {
    LogWarning("chief", "a shard lacks work that was reported as applied; it is asked what it has",
               {{"shard", shard}});
  }
  return true;
}

void ReadOnlyGrants::Return(const std::vector<WorkId>& returned) const {
  const auto& work = chief_.setup.work.read_only;
  if (!work) return;
  for (const WorkId work_id : returned) {
    if (IsReadOnlyAttempt(work_id)) work->Returned(work_id);
  }
}

void ReadOnlyGrants::Begin(std::uint32_t worker) const {
  SetRegistered(worker, false);
  SetRegistered(worker, true);
}

void ReadOnlyGrants::SetRegistered(std::uint32_t worker, bool registered) const {
  if (const auto& work = chief_.setup.work.read_only) work->SetRegistered(worker, registered);
}

void ReadOnlyGrants::Tell(WorkWaiters::News* news) const {
  CommitProtocol& protocol = chief_.protocol;
  news->open = protocol.Grantable();
  if (MayGrant()) news->open += chief_.setup.work.read_only->Open(protocol);
  news->kept = [this, &protocol](std::uint32_t worker) {
    return protocol.GrantableTo(worker) ||
           (MayGrant() && chief_.setup.work.read_only->OpenFor(worker, protocol));
  };
}

bool ReadOnlyGrants::done() const {
  const auto& work = chief_.setup.work.read_only;
  return !work || work->Done();
}

}  // namespace pstrain
