#include "runtime/rpc/control_shards.h"

#include <bit>
#include <string>

#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

using Wire = WireShardAssignment;

Wire::Source SourceToWire(AssignSource source) {
  switch (source) {
    case AssignSource::kInitial:
      return Wire::INITIAL;
    case AssignSource::kRestore:
      return Wire::RESTORE;
    case AssignSource::kKeep:
      return Wire::KEEP;
    case AssignSource::kDrop:
      return Wire::DROP;
    case AssignSource::kMove:
      return Wire::MOVE;
  }
  return Wire::SOURCE_UNSPECIFIED;
}

Result<AssignSource> SourceFromWire(Wire::Source source) {
  switch (source) {
    case Wire::INITIAL:
      return AssignSource::kInitial;
    case Wire::RESTORE:
      return AssignSource::kRestore;
    case Wire::KEEP:
      return AssignSource::kKeep;
    case Wire::DROP:
      return AssignSource::kDrop;
    case Wire::MOVE:
      return AssignSource::kMove;
    default:
      // To guess would be to serve values that nobody asked for.
      return InvalidArgumentError("unknown source of a shard");
  }
}

ShardSet Named(const Membership& membership, std::span<const ShardInTerm> shards) {
  ShardSet named(static_cast<std::uint32_t>(membership.shards_size()));
  for (const ShardInTerm& shard : shards) {
    const ShardOwner& owner = membership.shards(static_cast<int>(shard.shard));
    if (owner.active() && FromWire(owner.term()) == shard.term) named.Add(shard.shard);
  }
  return named;
}

}  // namespace

void ToWire(const ShardCopy& copy, WireShardCopy* wire) {
  wire->set_shard(copy.shard);
  ToWire(copy.term, wire->mutable_term());
  wire->set_active(copy.active);
  if (copy.active) wire->set_applied(copy.applied.Serialize());
  wire->set_examples_applied(copy.examples);
  for (const WorkId work_id : copy.left_out) ToWire(work_id, wire->add_left_out());
}

Result<ShardCopy> FromWire(const WireShardCopy& wire) {
  ShardCopy copy;
  copy.shard = wire.shard();
  copy.term = FromWire(wire.term());
  copy.active = wire.active();
  copy.examples = wire.examples_applied();
  for (const WireWorkId& work_id : wire.left_out()) copy.left_out.push_back(FromWire(work_id));
  // A copy that is not complete has no set that anybody could count on.
  if (wire.active()) {
    PSTRAIN_ASSIGN_OR_RETURN(copy.applied, AppliedSet::Parse(wire.applied()));
  }
  return copy;
}

void ToWire(const ShardAssignment& assignment, WireShardAssignment* wire) {
  wire->set_shard(assignment.shard);
  ToWire(assignment.term, wire->mutable_term());
  wire->set_source(SourceToWire(assignment.source));
  if (assignment.source != AssignSource::kMove) return;
  wire->set_from_address(assignment.from);
  ToWire(assignment.from_term, wire->mutable_from_term());
}

Result<ShardAssignment> FromWire(const WireShardAssignment& wire) {
  ShardAssignment assignment;
  assignment.shard = wire.shard();
  assignment.term = FromWire(wire.term());
  PSTRAIN_ASSIGN_OR_RETURN(assignment.source, SourceFromWire(wire.source()));
  if (assignment.source == AssignSource::kMove) {
    assignment.from = wire.from_address();
    assignment.from_term = FromWire(wire.from_term());
  }
  return assignment;
}

void ToWire(const ShardSet& set, WireShardSet* wire) {
  const std::uint32_t count = set.count();
  wire->set_count(count);
  if (count == 0 || count == set.shards()) return;
  wire->mutable_words()->Assign(set.words().begin(), set.words().end());
}

Status CheckShardSet(const WireShardSet& wire, std::uint32_t shards) {
  const auto number = [](std::uint64_t n) { return std::to_string(n); };
  if (wire.count() > shards) {
    return OutOfRangeError("a set of " + number(wire.count()) + " shards of " + number(shards));
  }
  const auto words = static_cast<std::size_t>(wire.words_size());
  if (words == 0) {
    if (wire.count() == 0 || wire.count() == shards) return OkStatus();
    return InvalidArgumentError("a set of " + number(wire.count()) + " of " + number(shards) +
                                " shards does not say which");
  }
  if (words != ShardSet::WordsFor(shards)) {
    return InvalidArgumentError("a set of shards has " + number(words) + " words of bits; " +
                                number(shards) + " shards need " +
                                number(ShardSet::WordsFor(shards)));
  }
  std::uint64_t count = 0;
  for (std::size_t w = 0; w < words; ++w) {
    const std::uint64_t bits = wire.words(static_cast<int>(w));
    if (const std::uint64_t beyond = bits & ~ShardSet::Existing(shards, w); beyond != 0) {
      return OutOfRangeError(
          "a set names shard " +
          number(w * ShardSet::kWordBits + static_cast<std::size_t>(std::countr_zero(beyond))) +
          " of " + number(shards));
    }
    count += static_cast<std::uint64_t>(std::popcount(bits));
  }
  if (count == wire.count()) return OkStatus();
  return InvalidArgumentError("a set of " + number(wire.count()) + " shards has " + number(count) +
                              " bits");
}

ShardSet FromWire(const WireShardSet& wire, std::uint32_t shards) {
  if (wire.words().empty()) return wire.count() == 0 ? ShardSet(shards) : ShardSet::All(shards);
  return ShardSet::Of(shards, {wire.words().begin(), wire.words().end()});
}

void SetShards(const Membership& membership, std::span<const ShardInTerm> have,
               std::span<const ShardInTerm> early, Report* report) {
  report->set_membership(membership.number());
  ToWire(Named(membership, have), report->mutable_shards());
  if (!early.empty()) ToWire(Named(membership, early), report->mutable_early());
}

}  // namespace pstrain
