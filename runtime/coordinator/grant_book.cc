#include "runtime/coordinator/grant_book.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pstrain {

GrantBook::GrantBook(const CoreOptions& options)
    : shards_(options.shards),
      epochs_(options.epochs),
      batches_(options.batches_per_epoch),
      records_(options.records),
      order_(options.order),
      block_(options.block),
      partial_(options.shards),
      known_(options.shards, false),
      committed_in_epoch_(options.epochs, 0) {
  std::int64_t per_epoch = 0;
  for (std::uint32_t batch = 0; batch < batches_; ++batch) per_epoch += RecordsOf(batch);
  examples_expected_ = per_epoch * epochs_;
}

void GrantBook::SetShard(ShardId shard, const AppliedSet& applied) {
  if (!known_[shard]) {
    known_[shard] = true;
    ++known_count_;
  }
  TokenSet& own = partial_[shard];
  if (applied.size() == 0 && committed_.empty()) {
    own.Clear();
    return;
  }
  const std::size_t words = (batches_ + TokenSet::kWordBits - 1) / TokenSet::kWordBits;
  for (std::uint32_t epoch = 0; epoch < epochs_; ++epoch) {
    for (std::size_t word = 0; word < words; ++word) {
      const std::uint64_t has = applied.Word(epoch, word);
      const std::uint64_t committed = committed_.Word(epoch, word);
      Reopen(shard, epoch, word, committed & ~has);
      std::uint64_t common = has & ~committed;
      own.Remove(epoch, word, ~common);
      own.Add(epoch, word, common);
      if (known_count_ < shards_) continue;
      for (ShardId s = 0; s < shards_ && common != 0; ++s) common &= partial_[s].Word(epoch, word);
      Commit(epoch, word, common);
    }
  }
}

bool GrantBook::Report(std::uint32_t worker, Token token, const std::vector<ShardId>& shards) {
  // The usual report names every shard: then no sparse set is touched.
  std::vector<bool> has(shards_, false);
  for (const ShardId shard : shards) has[shard] = true;
  bool complete = true;
  for (ShardId s = 0; s < shards_ && complete; ++s)
    complete = has[s] || partial_[s].Contains(token);
  if (!complete) {
    for (const ShardId shard : shards) partial_[shard].Insert(token);
    Return(worker, token);
    return false;
  }
  Commit(token.epoch, token.batch / TokenSet::kWordBits,
         std::uint64_t{1} << (token.batch % TokenSet::kWordBits));
  return true;
}

void GrantBook::Commit(std::uint32_t epoch, std::size_t word, std::uint64_t bits) {
  if (bits == 0) return;
  for (TokenSet& own : partial_) own.Remove(epoch, word, bits);
  committed_.Add(epoch, word, bits);
  const auto count = static_cast<std::uint64_t>(std::popcount(bits));
  committed_count_ += count;
  committed_in_epoch_[epoch] += count;
  examples_committed_ += RecordsOf(word, bits);
  if (in_flight_.empty()) return;
  for (; bits != 0; bits &= bits - 1) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
    const Token token{epoch, static_cast<std::uint32_t>(word * TokenSet::kWordBits + bit)};
    const auto it = in_flight_.find(token);
    if (it == in_flight_.end()) continue;
    for (const std::uint32_t holder : it->second) held_[holder].erase(token);
    Land(it);
  }
}

void GrantBook::Land(InFlight::iterator token) {
  examples_in_flight_ -= RecordsOf(token->first.batch);
  in_flight_.erase(token);
}

void GrantBook::Reopen(ShardId lacking, std::uint32_t epoch, std::size_t word, std::uint64_t bits) {
  if (bits == 0) return;
  committed_.Remove(epoch, word, bits);
  for (ShardId s = 0; s < shards_; ++s) {
    if (s != lacking) partial_[s].Add(epoch, word, bits);
  }
  const auto count = static_cast<std::uint64_t>(std::popcount(bits));
  committed_count_ -= count;
  committed_in_epoch_[epoch] -= count;
  reopened_count_ += count;
  examples_committed_ -= RecordsOf(word, bits);
  cursor_epoch_ = 0;
  cursor_position_ = 0;
}

std::int64_t GrantBook::RecordsOf(std::size_t word, std::uint64_t bits) const {
  std::int64_t records = 0;
  for (; bits != 0; bits &= bits - 1) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
    records += RecordsOf(static_cast<std::uint32_t>(word * TokenSet::kWordBits + bit));
  }
  return records;
}

std::vector<ShardId> GrantBook::Lacking(Token token) const {
  std::vector<ShardId> lacking;
  for (ShardId s = 0; s < shards_; ++s) {
    if (!partial_[s].Contains(token)) lacking.push_back(s);
  }
  return lacking;
}

bool GrantBook::Grantable(Token token) const {
  return !committed_.Contains(token) && !in_flight_.contains(token);
}

bool GrantBook::NextInOrder(Token* token) {
  while (cursor_epoch_ < epochs_) {
    if (cursor_position_ == batches_ || committed_in_epoch_[cursor_epoch_] == batches_) {
      ++cursor_epoch_;
      cursor_position_ = 0;
      continue;
    }
    const std::uint32_t position = cursor_position_++;
    *token = {cursor_epoch_, order_ ? order_(cursor_epoch_, position) : position};
    return true;
  }
  return false;
}

bool GrantBook::ReserveBlock(std::uint32_t worker) {
  Token token;
  if (!NextInOrder(&token)) return false;
  std::deque<Token>& reserved = reserved_[worker];
  reserved.push_back(token);
  if (!block_) return true;
  const std::uint32_t block = block_(token.batch);
  while (cursor_position_ < batches_) {
    const std::uint32_t batch = order_ ? order_(token.epoch, cursor_position_) : cursor_position_;
    if (block_(batch) != block) break;
    reserved.push_back({token.epoch, batch});
    ++cursor_position_;
  }
  return true;
}

bool GrantBook::NextFor(std::uint32_t worker, Token* token) {
  const auto take_first = [token](std::deque<Token>& tokens) {
    *token = tokens.front();
    tokens.pop_front();
    return true;
  };
  if (!returned_.empty()) return take_first(returned_);
  if (!reserved_[worker].empty() || ReserveBlock(worker)) return take_first(reserved_[worker]);
  const auto richest = std::max_element(
      reserved_.begin(), reserved_.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (richest->second.empty()) return false;
  // From the end that its own worker reaches last.
  *token = richest->second.back();
  richest->second.pop_back();
  return true;
}

std::vector<GrantedToken> GrantBook::Grant(std::uint32_t worker, std::size_t want) {
  std::vector<GrantedToken> grants;
  Token token;
  while (grants.size() < want && NextFor(worker, &token)) {
    if (!Grantable(token)) continue;
    std::vector<ShardId> lacking = Lacking(token);
    if (lacking.size() == shards_) lacking.clear();
    Hold(worker, token);
    grants.push_back({token, std::move(lacking)});
  }
  return grants;
}

void GrantBook::Hold(std::uint32_t worker, Token token) {
  if (!Valid(token) || committed_.Contains(token)) return;
  if (!held_[worker].insert(token).second) return;
  std::vector<std::uint32_t>& holders = in_flight_[token];
  if (holders.empty()) examples_in_flight_ += RecordsOf(token.batch);
  holders.push_back(worker);
}

void GrantBook::Return(std::uint32_t worker, Token token) {
  if (!Valid(token) || committed_.Contains(token)) return;
  if (const auto held = held_.find(worker); held != held_.end() && held->second.erase(token) > 0) {
    std::erase(in_flight_[token], worker);
  }
  if (const auto it = in_flight_.find(token); it != in_flight_.end()) {
    if (!it->second.empty()) return;
    Land(it);
  }
  returned_.push_back(token);
}

void GrantBook::ReturnAll(std::uint32_t worker) {
  if (const auto reserved = reserved_.extract(worker)) {
    returned_.insert(returned_.end(), reserved.mapped().begin(), reserved.mapped().end());
  }
  const auto it = held_.find(worker);
  if (it == held_.end()) return;
  const std::set<Token> tokens = it->second;
  for (const Token token : tokens) Return(worker, token);
  held_.erase(worker);
}

std::uint32_t GrantBook::CompleteEpochs() const {
  std::uint32_t complete = 0;
  while (complete < epochs_ && committed_in_epoch_[complete] == batches_) ++complete;
  return complete;
}

std::size_t GrantBook::held_by(std::uint32_t worker) const {
  const auto it = held_.find(worker);
  return it == held_.end() ? 0 : it->second.size();
}

}  // namespace pstrain
