#include "runtime/shard/shard_engine.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "runtime/shard/catalog.h"
#include "runtime/shard/owner_thread.h"
#include "runtime/shard/shard.h"

namespace pstrain {

std::string ShardEngine::TermText(ShardTerm term) {
  return std::to_string(term.chief_term) + "." + std::to_string(term.counter);
}

Status ShardEngine::NotConfigured() {
  return FailedPreconditionError("the ps knows no variables yet");
}

Status ShardEngine::Ending() { return UnavailableError("the ps is ending"); }

Status ShardEngine::NoSuchShard(ShardId shard, const Catalog& catalog) {
  return InvalidArgumentError("shard " + std::to_string(shard) + " of " +
                              std::to_string(catalog.shards()));
}

ShardEngine::ShardEngine(const ShardEngineOptions& options, const Clock* clock)
    : clock_(clock == nullptr ? &real_clock_ : clock) {
  const std::uint32_t threads = std::max(options.threads, 1u);
  const std::uint32_t capacity = std::max(options.queue_capacity, 1u);
  for (std::uint32_t i = 0; i < threads; ++i) {
    threads_.push_back(std::make_unique<OwnerThread>(capacity, *clock_, &stats_));
  }
}

// The threads touch the other members until they are joined.
ShardEngine::~ShardEngine() { threads_.clear(); }

// What was declared counts for the life of the process: shards and workers depend on every id,
// shape and partition of it, so that a different one can only be a mistake of the caller. More may
// come, and a call with fewer may come late; the shards take what is new with the next request or
// copy (Shard::Extend). Not so the epochs: a resumed job may have more or fewer of them.
Status ShardEngine::Configure(const ShardEngineConfig& config) {
  if (config.epochs == 0) return InvalidArgumentError("a run has at least one epoch");
  PSTRAIN_ASSIGN_OR_RETURN(
      auto catalog, Catalog::Create(config.variables, config.shards, config.batches_per_epoch));
  MutexLock lock(mutex_);
  const bool grows = catalog_ != nullptr && catalog->Extends(*catalog_);
  if (catalog_ != nullptr && !grows && !catalog_->Extends(*catalog)) {
    return AlreadyExistsError("other variables, shards or batches are declared already");
  }
  epochs_.store(config.epochs, std::memory_order_relaxed);
  most_epochs_.store(std::max(config.epochs, most_epochs_.load(std::memory_order_relaxed)),
                     std::memory_order_relaxed);
  if (catalog_ != nullptr) {
    const bool more = grows && catalog->variables().size() > catalog_->variables().size();
    if (more) catalog_ = std::move(catalog);
    return OkStatus();
  }
  shards_.resize(config.shards);
  dropped_.resize(config.shards);
  catalog_ = std::move(catalog);
  return OkStatus();
}

bool ShardEngine::configured() const { return catalog() != nullptr; }

std::shared_ptr<const Catalog> ShardEngine::catalog() const {
  MutexLock lock(mutex_);
  return catalog_;
}

Status ShardEngine::health() const {
  MutexLock lock(mutex_);
  return health_;
}

void ShardEngine::NoteHealth(const Status& health) {
  MutexLock lock(mutex_);
  if (health_.ok()) health_ = health;
}

std::uint32_t ShardEngine::ThreadOf(ShardId shard) const {
  return shard % static_cast<std::uint32_t>(threads_.size());
}

// The reply goes out when every shard has answered, and a thread that no longer takes work counts
// as an answer: a caller that waits must hear something in any case.
void ShardEngine::Dispatch(const ThreadSet& threads, std::function<void(std::uint32_t thread)> work,
                           StatusDone finish) {
  struct Join {
    std::function<void(std::uint32_t)> work;
    StatusDone finish;
    std::atomic<std::size_t> remaining{0};
    std::atomic<bool> refused{false};
    void Arrive() {
      // The last one sees what all others have written.
      if (remaining.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      finish(refused.load(std::memory_order_relaxed) ? Ending() : OkStatus());
    }
  };
  auto join = std::make_shared<Join>();
  join->work = std::move(work);
  join->finish = std::move(finish);
  // One more for this call, so that finish cannot run before all is posted.
  join->remaining = static_cast<std::size_t>(std::count(threads.begin(), threads.end(), true)) + 1;
  for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
    if (!threads[thread]) continue;
    const bool posted = threads_[thread]->Post([join, thread] {
      join->work(thread);
      join->Arrive();
    });
    if (!posted) {
      join->refused = true;
      join->Arrive();
    }
  }
  join->Arrive();
}

// Who may touch a shard's values: rule 3 lets only the active owner in exactly that term do so. A
// newer term here means that the asker's membership is old; an older one, that this ps has not
// heard of its assignment yet. Either way the shard has to be asked for again, not changed.
Shard* ShardEngine::Find(ShardId shard, ShardTerm term) {
  Shard* found = shards_[shard].get();
  return found != nullptr && found->term() == term && !found->frozen() ? found : nullptr;
}

void ShardEngine::Place(ShardId id, std::unique_ptr<Shard> shard) {
  std::unique_ptr<Shard>& place = shards_[id];
  const auto measure = [](const Shard* s) {
    return std::pair(s == nullptr ? 0 : static_cast<std::int64_t>(s->rows()),
                     s == nullptr ? 0 : static_cast<std::int64_t>(s->bytes()));
  };
  const auto [old_rows, old_bytes] = measure(place.get());
  const auto [new_rows, new_bytes] = measure(shard.get());
  stats_.rows.fetch_add(new_rows - old_rows, std::memory_order_relaxed);
  stats_.state_bytes.fetch_add(new_bytes - old_bytes, std::memory_order_relaxed);
  stats_.shard_copies.fetch_add((shard == nullptr ? 0 : 1) - (place == nullptr ? 0 : 1),
                                std::memory_order_relaxed);
  place = std::move(shard);
}

// The state machine of a shard's copy. Terms only grow, per shard and over drops, so a late or
// repeated assignment, which the chief sends again when it got no answer, can never bring back
// what a newer one has replaced: each term has one owner (rules 7 and 8, Move).
Status ShardEngine::Carry(const ShardAssignment& assignment, ShardState* state,
                          const std::shared_ptr<const Catalog>& catalog) {
  const ShardId id = assignment.shard;
  Shard* shard = shards_[id].get();
  const std::string name = "shard " + std::to_string(id);
  if (assignment.source == AssignSource::kDrop) {
    // Remembered also when nothing is here: the assignment of that term may come after its drop.
    dropped_[id] = std::max(dropped_[id], assignment.term);
    if (shard != nullptr && shard->term() == assignment.term) Place(id, nullptr);
    return OkStatus();
  }
  if (shard != nullptr && shard->term() == assignment.term) return OkStatus();
  const ShardTerm newest = std::max(dropped_[id], shard == nullptr ? ShardTerm{} : shard->term());
  if (assignment.term <= newest) {
    return FailedPreconditionError(name + ": shard term " + TermText(assignment.term) +
                                   " is not above its shard term " + TermText(newest));
  }
  switch (assignment.source) {
    case AssignSource::kKeep:
      if (shard == nullptr) return FailedPreconditionError(name + ": there is no copy to keep");
      shard->set_term(assignment.term);
      return OkStatus();
    case AssignSource::kInitial:
      Place(id, std::make_unique<Shard>(catalog, id, assignment.term));
      return OkStatus();
    case AssignSource::kRestore:
    case AssignSource::kMove: {
      if (state == nullptr || state->shard != id) {
        return InvalidArgumentError(name + ": the state to restore is missing or of another shard");
      }
      PSTRAIN_ASSIGN_OR_RETURN(auto restored,
                               Shard::Restore(catalog, assignment.term, std::move(*state)));
      Place(id, std::move(restored));
      return OkStatus();
    }
    case AssignSource::kDrop:
      break;
  }
  return InvalidArgumentError(name + ": an unknown source");
}

/// Each owner thread writes only the outcomes, copies and states of its own shards.
struct ShardEngine::AssignCall {
  std::vector<ShardAssignment> assignments;
  std::map<ShardId, ShardState> states;
  /// Parallel to `assignments`; no copy where nothing is active.
  std::vector<Status> outcomes;
  std::vector<std::optional<ShardCopy>> copies;
};

void ShardEngine::AssignOn(std::uint32_t thread, AssignCall& call) {
  // Of now: a state may have been copied after this call has come.
  const auto catalog = this->catalog();
  for (std::size_t i = 0; i < call.assignments.size(); ++i) {
    const ShardAssignment& assignment = call.assignments[i];
    if (ThreadOf(assignment.shard) != thread) continue;
    const auto state = call.states.find(assignment.shard);
    call.outcomes[i] =
        Carry(assignment, state == call.states.end() ? nullptr : &state->second, catalog);
    if (!call.outcomes[i].ok() || assignment.source == AssignSource::kDrop) continue;
    call.copies[i] = shards_[assignment.shard]->Describe();
  }
}

void ShardEngine::Assign(std::vector<ShardAssignment> assignments,
                         std::map<ShardId, ShardState> states, CopiesDone done) {
  const auto catalog = this->catalog();
  if (catalog == nullptr) return done(NotConfigured());
  ThreadSet threads(threads_.size());
  for (const ShardAssignment& assignment : assignments) {
    if (assignment.shard >= catalog->shards()) return done(NoSuchShard(assignment.shard, *catalog));
    threads[ThreadOf(assignment.shard)] = true;
  }
  auto call = std::make_shared<AssignCall>();
  call->outcomes.resize(assignments.size());
  call->copies.resize(assignments.size());
  call->assignments = std::move(assignments);
  call->states = std::move(states);
  const auto work = [this, call](std::uint32_t thread) { AssignOn(thread, *call); };
  Dispatch(threads, work, [call, done = std::move(done)](Status status) {
    for (const Status& outcome : call->outcomes) {
      if (status.ok()) status = outcome;
    }
    if (!status.ok()) return done(std::move(status));
    std::vector<ShardCopy> copies;
    for (auto& copy : call->copies) {
      if (copy) copies.push_back(std::move(*copy));
    }
    done(std::move(copies));
  });
}

}  // namespace pstrain
