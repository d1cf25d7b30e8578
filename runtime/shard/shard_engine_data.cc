#include <algorithm>
#include <utility>

#include "runtime/shard/catalog.h"
#include "runtime/shard/shard.h"
#include "runtime/shard/shard_engine.h"

namespace pstrain {
namespace {

void Add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
  if (amount != 0) counter.fetch_add(amount, std::memory_order_relaxed);
}

/// What one task counted, written to the shared counters once.
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
    if (rows_made == 0) return;
    stats.rows_held.fetch_add(rows_made, std::memory_order_relaxed);
    stats.bytes_held.fetch_add(bytes_made, std::memory_order_relaxed);
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

}  // namespace

std::uint64_t ShardEngine::Updates() const {
  const auto shards = stats_.shards_held.load(std::memory_order_relaxed);
  return stats_.pushes_applied.load(std::memory_order_relaxed) /
         static_cast<std::uint64_t>(std::max<std::int64_t>(shards, 1));
}

void ShardEngine::Pull(RequestBytes bytes, PullDone done) {
  struct Call {
    Call(RequestBytes keep, PullRequest parsed, PullReplyWriter out)
        : bytes(std::move(keep)), request(std::move(parsed)), writer(std::move(out)) {}
    RequestBytes bytes;
    PullRequest request;
    PullReplyWriter writer;
  };
  const auto catalog = this->catalog();
  if (catalog == nullptr) return done(FailedPreconditionError("the ps knows no variables yet"));
  Result<PullRequest> request = ParsePullRequest(bytes.bytes);
  if (!request.ok()) return done(request.status());
  if (Status status = catalog->Check(*request); !status.ok()) {
    return done(status.WithContext("pull request"));
  }
  std::vector<ShardId> shards;
  std::vector<std::size_t> floats;
  ThreadSet threads(threads_.size());
  for (const PullSection& section : request->sections) {
    shards.push_back(section.shard);
    floats.push_back(catalog->ReplyFloats(section));
    threads[ThreadOf(section.shard)] = true;
  }
  auto call = std::make_shared<Call>(std::move(bytes), std::move(*request),
                                     PullReplyWriter(shards, floats));
  const auto work = [this, call](std::uint32_t thread) {
    Tally tally;
    for (std::size_t i = 0; i < call->request.sections.size(); ++i) {
      const PullSection& section = call->request.sections[i];
      if (ThreadOf(section.shard) != thread) continue;
      const std::span<float> values = call->writer.values(i);
      Shard* shard = Find(section.shard, section.term);
      if (shard == nullptr) {
        std::fill(values.begin(), values.end(), 0.0f);
        call->writer.set_status(i, PullStatus::kNotOwner);
        ++tally.not_owner;
        continue;
      }
      const std::size_t rows = Rows(section);
      Measured(shard, &tally, [&] { shard->Read(section, values); });
      tally.rows_read += rows;
    }
    tally.AddTo(stats_);
  };
  Dispatch(threads, work, [this, call, done = std::move(done)](Status status) {
    if (!status.ok()) return done(std::move(status));
    call->writer.set_membership(membership_.load(std::memory_order_relaxed));
    call->writer.set_updates(Updates());
    done(call->writer.Take());
  });
}

void ShardEngine::Push(RequestBytes bytes, PushDone done) {
  struct Call {
    RequestBytes bytes;
    PushRequest request;
    PushReply reply;
  };
  const auto catalog = this->catalog();
  if (catalog == nullptr) return done(FailedPreconditionError("the ps knows no variables yet"));
  Result<PushRequest> request = ParsePushRequest(bytes.bytes);
  if (!request.ok()) return done(request.status());
  if (Status status = catalog->Check(*request); !status.ok()) {
    return done(status.WithContext("push request"));
  }
  auto call = std::make_shared<Call>();
  call->bytes = std::move(bytes);
  call->request = std::move(*request);
  ThreadSet threads(threads_.size());
  for (const PushSection& section : call->request.sections) {
    call->reply.sections.push_back({section.shard, PushStatus::kNotOwner});
    threads[ThreadOf(section.shard)] = true;
  }
  const auto work = [this, call](std::uint32_t thread) {
    Tally tally;
    for (std::size_t i = 0; i < call->request.sections.size(); ++i) {
      const PushSection& section = call->request.sections[i];
      if (ThreadOf(section.shard) != thread) continue;
      Shard* shard = Find(section.shard, section.term);
      if (shard == nullptr) {
        ++tally.not_owner;
        continue;
      }
      const std::size_t rows = Rows(section);
      PushStatus& status = call->reply.sections[i].status;
      Measured(shard, &tally, [&] { status = shard->Apply(call->request, section); });
      const bool applied = status == PushStatus::kApplied;
      ++(applied ? tally.applied : tally.duplicates);
      if (applied) tally.rows_written += rows;
    }
    tally.AddTo(stats_);
  };
  Dispatch(threads, work, [this, call, done = std::move(done)](Status status) {
    if (!status.ok()) return done(std::move(status));
    call->reply.membership = membership_.load(std::memory_order_relaxed);
    call->reply.updates = Updates();
    done(EncodePushReply(call->reply));
  });
}

}  // namespace pstrain
