#include "runtime/shard/shard_engine.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/shard/catalog.h"
#include "runtime/shard/owner_thread.h"
#include "runtime/shard/shard.h"

namespace pstrain {
namespace {

std::string TermText(ShardTerm term) {
  return std::to_string(term.chief_term) + "." + std::to_string(term.counter);
}

Status NotConfigured() { return FailedPreconditionError("the ps knows no variables yet"); }

ShardHeld Describe(const Shard& shard) {
  return {shard.id(), shard.term(), true, shard.applied().Serialize(), shard.examples()};
}

}  // namespace

ShardEngine::ShardEngine(const ShardEngineOptions& options, const Clock* clock)
    : clock_(clock == nullptr ? &real_clock_ : clock) {
  const std::uint32_t threads = std::max(options.threads, 1u);
  const std::uint32_t capacity = std::max(options.queue_capacity, 1u);
  for (std::uint32_t i = 0; i < threads; ++i) {
    threads_.push_back(std::make_unique<OwnerThread>(capacity, *clock_, &stats_));
  }
}

ShardEngine::~ShardEngine() { threads_.clear(); }

Status ShardEngine::Configure(const ShardEngineConfig& config) {
  PSTRAIN_ASSIGN_OR_RETURN(
      auto catalog, Catalog::Create(config.variables, config.shards, config.batches_per_epoch));
  MutexLock lock(mutex_);
  if (catalog_ != nullptr) {
    if (catalog_->Equals(*catalog)) return OkStatus();
    return AlreadyExistsError("other variables, shards or batches are declared already");
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

std::uint32_t ShardEngine::ThreadOf(ShardId shard) const {
  return shard % static_cast<std::uint32_t>(threads_.size());
}

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
      finish(refused.load(std::memory_order_relaxed) ? UnavailableError("the ps is ending")
                                                     : OkStatus());
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
  stats_.rows_held.fetch_add(new_rows - old_rows, std::memory_order_relaxed);
  stats_.bytes_held.fetch_add(new_bytes - old_bytes, std::memory_order_relaxed);
  stats_.shards_held.fetch_add((shard == nullptr ? 0 : 1) - (place == nullptr ? 0 : 1),
                               std::memory_order_relaxed);
  place = std::move(shard);
}

Status ShardEngine::Carry(ShardOrder& order, const std::shared_ptr<const Catalog>& catalog) {
  Shard* shard = shards_[order.shard].get();
  const std::string name = "shard " + std::to_string(order.shard);
  if (order.source == ShardSource::kDrop) {
    dropped_[order.shard] = std::max(dropped_[order.shard], order.term);
    if (shard != nullptr && shard->term() == order.term) Place(order.shard, nullptr);
    return OkStatus();
  }
  if (shard != nullptr && shard->term() == order.term) return OkStatus();
  const ShardTerm newest =
      std::max(dropped_[order.shard], shard == nullptr ? ShardTerm{} : shard->term());
  if (order.term <= newest) {
    return FailedPreconditionError(name + ": term " + TermText(order.term) +
                                   " is not above its term " + TermText(newest));
  }
  switch (order.source) {
    case ShardSource::kKeep:
      if (shard == nullptr) return FailedPreconditionError(name + ": there is no copy to keep");
      shard->set_term(order.term);
      return OkStatus();
    case ShardSource::kInitial:
      Place(order.shard, std::make_unique<Shard>(catalog, order.shard, order.term));
      return OkStatus();
    case ShardSource::kRestore: {
      if (!order.state || order.state->shard != order.shard) {
        return InvalidArgumentError(name + ": the state to restore is missing or of another shard");
      }
      PSTRAIN_ASSIGN_OR_RETURN(auto restored,
                               Shard::Restore(catalog, order.term, std::move(*order.state)));
      Place(order.shard, std::move(restored));
      return OkStatus();
    }
    case ShardSource::kDrop:
      break;
  }
  return InvalidArgumentError(name + ": an unknown source");
}

void ShardEngine::Assign(std::vector<ShardOrder> orders, HeldDone done) {
  struct Call {
    std::vector<ShardOrder> orders;
    std::vector<Status> outcomes;
    std::vector<std::optional<ShardHeld>> held;
  };
  const auto catalog = this->catalog();
  if (catalog == nullptr) return done(NotConfigured());
  auto call = std::make_shared<Call>();
  ThreadSet threads(threads_.size());
  for (const ShardOrder& order : orders) {
    if (order.shard >= catalog->shards()) {
      return done(InvalidArgumentError("shard " + std::to_string(order.shard) + " of " +
                                       std::to_string(catalog->shards())));
    }
    threads[ThreadOf(order.shard)] = true;
  }
  call->outcomes.resize(orders.size());
  call->held.resize(orders.size());
  call->orders = std::move(orders);
  const auto work = [this, call, catalog](std::uint32_t thread) {
    for (std::size_t i = 0; i < call->orders.size(); ++i) {
      ShardOrder& order = call->orders[i];
      if (ThreadOf(order.shard) != thread) continue;
      call->outcomes[i] = Carry(order, catalog);
      if (!call->outcomes[i].ok() || order.source == ShardSource::kDrop) continue;
      call->held[i] = Describe(*shards_[order.shard]);
    }
  };
  Dispatch(threads, work, [call, done = std::move(done)](Status status) {
    for (const Status& outcome : call->outcomes) {
      if (status.ok()) status = outcome;
    }
    if (!status.ok()) return done(std::move(status));
    std::vector<ShardHeld> held;
    for (auto& shard : call->held) {
      if (shard) held.push_back(std::move(*shard));
    }
    done(std::move(held));
  });
}

void ShardEngine::Held(HeldDone done) {
  const auto catalog = this->catalog();
  if (catalog == nullptr) return done(std::vector<ShardHeld>());
  auto held = std::make_shared<std::vector<std::optional<ShardHeld>>>(catalog->shards());
  const auto work = [this, held](std::uint32_t thread) {
    const auto step = static_cast<std::uint32_t>(threads_.size());
    for (ShardId shard = thread; shard < held->size(); shard += step) {
      if (shards_[shard] != nullptr) (*held)[shard] = Describe(*shards_[shard]);
    }
  };
  Dispatch(AllThreads(), work, [held, done = std::move(done)](Status status) {
    if (!status.ok()) return done(std::move(status));
    std::vector<ShardHeld> found;
    for (auto& shard : *held) {
      if (shard) found.push_back(std::move(*shard));
    }
    done(std::move(found));
  });
}

Status ShardEngine::NotInTerm(const ShardInTerm& shard) {
  return AbortedError("shard " + std::to_string(shard.shard) + " is not active in term " +
                      TermText(shard.term));
}

void ShardEngine::Freeze(ShardInTerm wanted, StateDone done) {
  const auto catalog = this->catalog();
  if (catalog == nullptr) return done(NotConfigured());
  if (wanted.shard >= catalog->shards()) return done(NotInTerm(wanted));
  auto shared = std::make_shared<StateDone>(std::move(done));
  const auto freeze = [this, wanted, shared] {
    Shard* shard = shards_[wanted.shard].get();
    if (shard == nullptr || shard->term() != wanted.term) return (*shared)(NotInTerm(wanted));
    shard->Freeze();
    (*shared)(shard->Copy());
  };
  if (!threads_[ThreadOf(wanted.shard)]->Post(freeze)) {
    (*shared)(UnavailableError("the ps is ending"));
  }
}

void ShardEngine::Snapshot(CopyOrder order, SnapshotSink sink, StatusDone done) {
  struct Join {
    Join(std::size_t count, StatusDone finish) : remaining(count), done(std::move(finish)) {}
    void Arrive(Status outcome) {
      {
        MutexLock lock(mutex);
        if (status.ok()) status = std::move(outcome);
      }
      if (remaining.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      Status first;
      {
        MutexLock lock(mutex);
        first = status;
      }
      done(std::move(first));
    }
    std::atomic<std::size_t> remaining;
    const StatusDone done;
    Mutex mutex;
    Status status PSTRAIN_GUARDED_BY(mutex);
  };
  const auto catalog = this->catalog();
  if (catalog == nullptr) return done(NotConfigured());
  for (const ShardInTerm& shard : order.shards) {
    if (shard.shard >= catalog->shards()) {
      return done(InvalidArgumentError("shard " + std::to_string(shard.shard) + " of " +
                                       std::to_string(catalog->shards())));
    }
  }
  auto join = std::make_shared<Join>(order.shards.size() + 1, std::move(done));
  auto shared_sink = std::make_shared<SnapshotSink>(std::move(sink));
  auto shared = std::make_shared<const CopyOrder>(std::move(order));
  // A task for each shard, so that pushes pass between two copies.
  for (const ShardInTerm& wanted : shared->shards) {
    const auto copy = [this, join, shared_sink, shared, wanted] {
      Shard* shard = Find(wanted.shard, wanted.term);
      if (shard == nullptr) {
        return join->Arrive(NotInTerm(wanted));
      }
      shard->CloseEpochsBelow(shared->close_epochs_below);
      (*shared_sink)(shared->checkpoint.empty()
                         ? shard->Copy()
                         : shard->CopyForCheckpoint(shared->checkpoint, shared->base));
      join->Arrive(OkStatus());
    };
    if (!threads_[ThreadOf(wanted.shard)]->Post(copy)) {
      join->Arrive(UnavailableError("the ps is ending"));
    }
  }
  join->Arrive(OkStatus());
}

}  // namespace pstrain
