#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "runtime/coordinator/core_types.h"
#include "runtime/coordinator/token_set.h"
#include "runtime/ps/applied_set.h"
#include "runtime/ps/ids.h"

namespace pstrain {

/// Which token is where: with a worker, applied by some shards, committed (applied by all). Owned
/// by Core, which decides what counts; one thread at a time.
///
/// A shard "has" a token when it is committed or in the shard's own sparse set, so the usual token,
/// reported by all shards at once, costs one bit. What a shard has is a lower bound of what its
/// current copy has applied: a token granted once too often is answered as a duplicate.
class GrantBook {
 public:
  /// Uses shards, epochs, batches_per_epoch, records and order.
  explicit GrantBook(const CoreOptions& options);

  /// The shard has a new copy with this set: tokens that it lacks are open again, whoever has them.
  void SetShard(ShardId shard, const AppliedSet& applied);
  /// The shards that are named have the token. True if that makes it committed; then it is with no
  /// worker any more. Otherwise it is no longer with `worker`, and will be granted again when it is
  /// with no other. REQUIRES: Valid(token), !Committed(token).
  bool Report(std::uint32_t worker, Token token, const std::vector<ShardId>& shards);

  /// Tokens that are neither committed nor with a worker; they are with `worker` afterwards. Tokens
  /// that came back are first, then the rest of the worker's last block, then further blocks, and
  /// at the end of the input what is left of the other workers' blocks.
  std::vector<GrantedToken> Grant(std::uint32_t worker, std::size_t want);
  /// The worker says that it holds the token (after a change of chief).
  void Hold(std::uint32_t worker, Token token);
  void Return(std::uint32_t worker, Token token);
  void ReturnAll(std::uint32_t worker);

  bool Valid(Token token) const { return token.epoch < epochs_ && token.batch < batches_; }
  bool Committed(Token token) const { return committed_.Contains(token); }
  bool AllCommitted() const { return committed_count_ == tokens_expected(); }
  /// Leading epochs of which every batch is committed.
  std::uint32_t CompleteEpochs() const;
  /// Tokens with some worker; of one worker.
  std::size_t in_flight() const { return in_flight_.size(); }
  std::size_t held_by(std::uint32_t worker) const;
  /// Records of the tokens that are with some worker.
  std::int64_t examples_in_flight() const { return examples_in_flight_; }
  std::uint64_t tokens_expected() const { return std::uint64_t{epochs_} * batches_; }
  std::uint64_t tokens_committed() const { return committed_count_; }
  std::uint64_t tokens_reopened() const { return reopened_count_; }
  std::int64_t examples_expected() const { return examples_expected_; }
  std::int64_t examples_committed() const { return examples_committed_; }

 private:
  std::uint32_t RecordsOf(std::uint32_t batch) const { return records_ ? records_(batch) : 1; }
  std::int64_t RecordsOf(std::size_t word, std::uint64_t bits) const;
  /// Committed tokens are with nobody.
  void Commit(std::uint32_t epoch, std::size_t word, std::uint64_t bits);
  void Reopen(ShardId lacking, std::uint32_t epoch, std::size_t word, std::uint64_t bits);
  using InFlight = std::unordered_map<Token, std::vector<std::uint32_t>>;
  /// The token is with nobody any more.
  void Land(InFlight::iterator token);
  std::vector<ShardId> Lacking(Token token) const;
  bool Grantable(Token token) const;
  /// The next token of the grant order, or false at the end.
  bool NextInOrder(Token* token);
  /// Puts the next block of the grant order aside for the worker; false at the end.
  bool ReserveBlock(std::uint32_t worker);
  /// The next token to be looked at for the worker, or false when there is none.
  bool NextFor(std::uint32_t worker, Token* token);

  std::uint32_t shards_;
  std::uint32_t epochs_;
  std::uint32_t batches_;
  std::function<std::uint32_t(std::uint32_t)> records_;
  std::function<std::uint32_t(std::uint32_t, std::uint32_t)> order_;
  std::function<std::uint32_t(std::uint32_t)> block_;

  TokenSet committed_;
  std::vector<TokenSet> partial_;
  /// Shards that have had a SetShard.
  std::vector<bool> known_;
  std::uint32_t known_count_ = 0;
  std::vector<std::uint64_t> committed_in_epoch_;
  std::uint64_t committed_count_ = 0;
  std::uint64_t reopened_count_ = 0;
  std::int64_t examples_expected_ = 0;
  std::int64_t examples_committed_ = 0;

  /// More than one worker may hold a token after a change of chief.
  InFlight in_flight_;
  std::int64_t examples_in_flight_ = 0;
  std::map<std::uint32_t, std::set<Token>> held_;
  std::deque<Token> returned_;
  /// What is left of the block that was put aside for each worker. Only a preference: others take
  /// from it when nothing else is left, and after the cursor went back a token may be in two.
  std::map<std::uint32_t, std::deque<Token>> reserved_;
  /// Position of the grant order up to which every token is committed, with a worker, returned or
  /// reserved.
  std::uint32_t cursor_epoch_ = 0;
  std::uint32_t cursor_position_ = 0;
};

}  // namespace pstrain
