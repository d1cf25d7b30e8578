#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "runtime/shard/catalog.h"
#include "runtime/shard/shard.h"
#include "runtime/shard/shard_engine.h"

namespace pstrain {
namespace {

void Add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
  if (amount != 0) counter.fetch_add(amount, std::memory_order_relaxed);
}

/// What one task counted, written to the shared counters once: the owner threads of a ps would
/// otherwise fight over the cache line of the counters with every section.
struct Tally {
  std::uint64_t applied = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t not_owner = 0;
  std::uint64_t rows_read = 0;
  std::uint64_t rows_written = 0;
  std::int64_t rows_made = 0;
  std::int64_t bytes_made = 0;

  void AddTo(ShardEngineStats& stats) const {
    Add(stats.pushes_applied, applied);
    Add(stats.duplicates, duplicates);
    Add(stats.not_owner, not_owner);
    Add(stats.rows_read, rows_read);
    Add(stats.rows_written, rows_written);
    if (rows_made == 0 && bytes_made == 0) return;
    stats.rows.fetch_add(rows_made, std::memory_order_relaxed);
    stats.state_bytes.fetch_add(bytes_made, std::memory_order_relaxed);
  }
};

/// Runs `change` on a shard and tallies the rows that it made.
template <typename Change>
void Measured(Shard* shard, Tally* tally, Change change) {
  const std::size_t rows = shard->rows();
  const std::size_t bytes = shard->bytes();
  change();
  tally->rows_made += static_cast<std::int64_t>(shard->rows() - rows);
  tally->bytes_made += static_cast<std::int64_t>(shard->bytes() - bytes);
}

template <typename Section>
std::size_t Rows(const Section& section) {
  std::size_t rows = 0;
  for (const auto& table : section.tables) rows += table.keys.size();
  return rows;
}

/// Calls `visit` with the position of the work, that of the section in the whole message, and the
/// section. A shard so gets the pieces of work in their order.
template <typename Request, typename Visit>
void ForEachSection(const std::vector<Request>& works, Visit visit) {
  std::size_t at = 0;
  for (std::size_t w = 0; w < works.size(); ++w) {
    for (const auto& section : works[w].sections) visit(w, at++, section);
  }
}

/// Why the shard that is active in the term that was asked for (null: none is) does not serve work
/// of this grant; nothing: it does. It decides by its own term, applied set and variables (`known`:
/// it has all that the section names) alone: the chief may not know yet that a shard was restored
/// from an older checkpoint, and a worker need not know that there is another chief.
template <typename SectionStatus>
std::optional<SectionStatus> Refusal(const Shard* shard, const GrantContext& grant, bool known) {
  if (shard == nullptr) return SectionStatus::kNotOwner;
  if (grant.chief_term != 0 && grant.chief_term != shard->term().chief_term) {
    return SectionStatus::kOtherChief;
  }
  if (!known || !shard->HasAllBelow(grant.after)) return SectionStatus::kEarly;
  return std::nullopt;
}

}  // namespace

/// The pulls of one message between its arrival and its answer. Each owner thread touches only the
/// sections of its own shards, so that no two threads write the same part and none needs a lock.
struct ShardEngine::PullCall {
  /// That the works were checked against.
  std::shared_ptr<const Catalog> catalog;
  std::shared_ptr<const std::vector<PullRequest>> works;
  std::vector<std::span<std::byte>> values;
  PullResult result;
};

/// As PullCall, for a push.
struct ShardEngine::PushCall {
  std::shared_ptr<const Catalog> catalog;
  std::shared_ptr<const std::vector<PushRequest>> works;
  PushReply reply;
  /// By work: the job does not have its epoch any more.
  std::vector<bool> gone;
};

std::uint64_t ShardEngine::Updates() const {
  const auto shards = stats_.shard_copies.load(std::memory_order_relaxed);
  return stats_.pushes_applied.load(std::memory_order_relaxed) /
         static_cast<std::uint64_t>(std::max<std::int64_t>(shards, 1));
}

void ShardEngine::ReadOn(std::uint32_t thread, PullCall& call) {
  Tally tally;
  ForEachSection(*call.works, [&](std::size_t w, std::size_t at, const PullSection& section) {
    if (ThreadOf(section.shard) != thread) return;
    const std::span<std::byte> values = call.values[at];
    Shard* shard = Find(section.shard, section.term);
    const bool known = call.catalog->Knows(section);
    if (const auto refusal = Refusal<PullStatus>(shard, (*call.works)[w].grant, known)) {
      // The room is not initialised: what another request left there must not leave the process.
      std::fill(values.begin(), values.end(), std::byte{0});
      call.result.statuses[at] = *refusal;
      if (shard == nullptr) ++tally.not_owner;
      return;
    }
    const std::size_t rows = Rows(section);
    Measured(shard, &tally, [&] {
      shard->Extend(call.catalog);
      shard->Read(section, values);
    });
    tally.rows_read += rows;
  });
  tally.AddTo(stats_);
}

void ShardEngine::Pull(std::shared_ptr<const std::vector<PullRequest>> works, const PullRoom& room,
                       PullDone done) {
  const auto catalog = this->catalog();
  if (catalog == nullptr) return done(NotConfigured());
  for (const PullRequest& work : *works) {
    if (Status status = catalog->Check(work); !status.ok()) {
      return done(status.WithContext("pull request"));
    }
  }
  std::vector<std::size_t> bytes;
  ThreadSet threads(threads_.size());
  ForEachSection(*works, [&](std::size_t, std::size_t, const PullSection& section) {
    bytes.push_back(catalog->ReplyBytes(section));
    threads[ThreadOf(section.shard)] = true;
  });
  auto call = std::make_shared<PullCall>();
  call->catalog = catalog;
  call->values = room(bytes);
  call->result.statuses.resize(bytes.size(), PullStatus::kOk);
  call->works = std::move(works);
  const auto work = [this, call](std::uint32_t thread) { ReadOn(thread, *call); };
  Dispatch(threads, work, [this, call, done = std::move(done)](Status status) {
    if (!status.ok()) return done(std::move(status));
    call->result.membership = membership_.load(std::memory_order_relaxed);
    call->result.updates = Updates();
    done(std::move(call->result));
  });
}

// Rule 3 of the commit protocol, Apply, for the shards of one thread. Sections stand alone: that
// one shard is elsewhere must not keep the others from having the work id, because the worker
// pushes only what is missing again.
void ShardEngine::ApplyOn(std::uint32_t thread, PushCall& call) {
  Tally tally;
  ForEachSection(*call.works, [&](std::size_t w, std::size_t at, const PushSection& section) {
    if (ThreadOf(section.shard) != thread) return;
    const PushRequest& work = (*call.works)[w];
    Shard* shard = Find(section.shard, section.term);
    PushStatus& status = call.reply.statuses[at];
    if (shard == nullptr) {
      status = PushStatus::kNotOwner;
      ++tally.not_owner;
      return;
    }
    auto refusal = Refusal<PushStatus>(shard, work.grant, call.catalog->Knows(section));
    if (call.gone[w]) refusal = PushStatus::kOtherChief;
    if (refusal) {
      status = *refusal;
      return;
    }
    const std::size_t rows = Rows(section);
    Measured(shard, &tally, [&] {
      shard->Extend(call.catalog);
      status = shard->Apply(work, section);
    });
    const bool applied = status == PushStatus::kApplied;
    ++(applied ? tally.applied : tally.duplicates);
    if (applied) tally.rows_written += rows;
    if (applied && !shard->health().ok()) NoteHealth(shard->health());
  });
  tally.AddTo(stats_);
}

// The work of a former chief ends with it, and a job may have fewer epochs than before: its workers
// need not know yet. A ps that was started since has not known the epoch either; then the grant's
// chief says that it is of another one than the shards.
Result<bool> ShardEngine::IsGone(const PushRequest& request) const {
  const std::uint32_t epoch = request.work_id.epoch;
  const std::uint32_t epochs = epochs_.load(std::memory_order_relaxed);
  if (epoch < epochs) return false;
  if (epoch < most_epochs_.load(std::memory_order_relaxed)) return true;
  const std::uint64_t chief = request.grant.chief_term;
  const bool of_another =
      chief != 0 && std::ranges::none_of(request.sections, [chief](const PushSection& section) {
        return section.term.chief_term == chief;
      });
  if (of_another) return true;
  return InvalidArgumentError("there is no epoch " + std::to_string(epoch) + "; the job has " +
                              std::to_string(epochs));
}

// The whole message is checked before any thread starts, so that a malformed one changes nothing:
// what was applied in part could never be told from what was applied.
void ShardEngine::Push(std::shared_ptr<const std::vector<PushRequest>> works, PushDone done) {
  const auto catalog = this->catalog();
  if (catalog == nullptr) return done(NotConfigured());
  auto call = std::make_shared<PushCall>();
  call->catalog = catalog;
  for (const PushRequest& work : *works) {
    const Result<bool> gone = IsGone(work);
    const Status fits = gone.ok() ? catalog->Check(work) : gone.status();
    if (!fits.ok()) return done(fits.WithContext("push request"));
    call->gone.push_back(*gone);
  }
  ThreadSet threads(threads_.size());
  ForEachSection(*works, [&](std::size_t, std::size_t, const PushSection& section) {
    call->reply.statuses.push_back(PushStatus::kNotOwner);
    threads[ThreadOf(section.shard)] = true;
  });
  call->works = std::move(works);
  const auto work = [this, call](std::uint32_t thread) { ApplyOn(thread, *call); };
  Dispatch(threads, work, [this, call, done = std::move(done)](Status status) {
    if (!status.ok()) return done(std::move(status));
    call->reply.membership = membership_.load(std::memory_order_relaxed);
    call->reply.updates = Updates();
    done(std::move(call->reply));
  });
}

}  // namespace pstrain
