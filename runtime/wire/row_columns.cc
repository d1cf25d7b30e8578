#include "runtime/wire/row_columns.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "runtime/wire/data_plane_format.h"

namespace pstrain::data_plane_format {
namespace {

DType DTypeOf(const RowKeys& rows) { return rows.dtype; }
DType DTypeOf(const RowUpdates& rows) { return rows.values.dtype(); }
UpdateOp OpOf(const RowKeys&) { return UpdateOp::kGradient; }
UpdateOp OpOf(const RowUpdates& rows) { return rows.op; }
void ReserveValues(const RowKeys&, std::size_t, RowColumn*) {}
void ReserveValues(const RowUpdates&, std::size_t sections, RowColumn* column) {
  column->values.reserve(sections);
}
void AddValues(const RowKeys&, RowColumn*) {}
void AddValues(const RowUpdates& rows, RowColumn* column) {
  column->values.push_back(rows.values);
  column->elements += rows.values.size();
}

bool SameKeys(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  return a.size() == b.size() && (a.data() == b.data() || std::ranges::equal(a, b));
}

bool SameList(const KeyList& a, const KeyList& b) {
  return a.keys == b.keys &&
         std::ranges::equal(a.shards, b.shards, [](const ShardKeys& x, const ShardKeys& y) {
           return x.place == y.place && SameKeys(x.keys, y.keys);
         });
}

/// The key lists of a message. Parts whose keys are the same at every shard have one list, as far
/// as kMostUsesOfAList goes.
class Lists {
 public:
  explicit Lists(std::vector<KeyList>* lists) : lists_(*lists) {}

  /// The position of the list.
  std::uint32_t Add(KeyList list) {
    for (auto [at, end] = known_.equal_range(HashOf(list)); at != end; ++at) {
      KeyList& known = lists_[at->second];
      if (known.uses == kMostUsesOfAList || !SameList(known, list)) continue;
      ++known.uses;
      return at->second;
    }
    const auto position = static_cast<std::uint32_t>(lists_.size());
    known_.emplace(HashOf(list), position);
    list.uses = 1;
    // Not of the last keys alone: that they ascend is only checked by the ps.
    std::uint64_t bits = 0;
    for (const ShardKeys& shard : list.shards) {
      for (const std::uint64_t key : shard.keys) bits |= key;
    }
    list.wide = bits > std::numeric_limits<std::uint32_t>::max();
    lists_.push_back(std::move(list));
    return position;
  }

 private:
  static std::uint64_t HashOf(const KeyList& list) {
    const auto& last = list.shards.back().keys;
    return list.keys + 31 * (last.empty() ? 0 : last.back());
  }

  std::vector<KeyList>& lists_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_;
};

/// A column while sections are added to it.
struct OpenColumn {
  RowColumn column;
  KeyList list;
};

/// Puts the tables of one section into columns. Both ascend by variable, so one walk finds each
/// table's column; of several tables of a variable each has a later one than that before it, so
/// that they stay in their order. `sections`: how many there are, so that a column grows once.
template <typename Tables>
void AddSection(std::uint32_t place, const Tables& tables, std::size_t sections,
                std::vector<OpenColumn>* columns) {
  if (columns->empty()) columns->reserve(tables.size());
  std::size_t at = 0;
  for (const auto& rows : tables) {
    while (at < columns->size() && ((*columns)[at].column.variable < rows.variable ||
                                    ((*columns)[at].column.variable == rows.variable &&
                                     ((*columns)[at].column.dtype != DTypeOf(rows) ||
                                      (*columns)[at].column.op != OpOf(rows))))) {
      ++at;
    }
    if (at == columns->size() || (*columns)[at].column.variable != rows.variable) {
      OpenColumn opened;
      opened.column.variable = rows.variable;
      opened.column.dtype = DTypeOf(rows);
      opened.column.op = OpOf(rows);
      opened.list.shards.reserve(sections);
      ReserveValues(rows, sections, &opened.column);
      columns->insert(columns->begin() + static_cast<std::ptrdiff_t>(at), std::move(opened));
    }
    OpenColumn& column = (*columns)[at++];
    column.list.shards.push_back({place, rows.keys});
    column.list.keys += rows.keys.size();
    AddValues(rows, &column.column);
  }
}

/// The shards of all sections, ascending; of the usual message those of its first piece of work.
template <typename Request>
std::vector<ShardInTerm> ShardsOf(std::span<const Request> works) {
  std::vector<ShardInTerm> shards;
  const auto same = [](const auto& a, const auto& b) { return a.shard == b.shard; };
  for (std::size_t w = 0; w < works.size(); ++w) {
    if (w > 0 && std::ranges::equal(works[w].sections, works[w - 1].sections, same)) continue;
    shards.reserve(shards.size() + works[w].sections.size());
    for (const auto& section : works[w].sections) shards.push_back({section.shard, section.term});
  }
  if (works.size() == 1) return shards;
  std::ranges::sort(shards, {}, &ShardInTerm::shard);
  const auto again = std::ranges::unique(shards, {}, &ShardInTerm::shard);
  shards.erase(again.begin(), again.end());
  return shards;
}

/// The place of each section among the message's shards.
template <typename Request>
std::vector<std::uint32_t> PlacesOf(const Request& work, const std::vector<ShardInTerm>& shards) {
  std::vector<std::uint32_t> places;
  places.reserve(work.sections.size());
  std::size_t next = 0;
  for (const auto& section : work.sections) {
    while (next + 1 < shards.size() && shards[next].shard != section.shard) ++next;
    places.push_back(static_cast<std::uint32_t>(next++));
  }
  return places;
}

template <typename Request>
MessagePlan Plan(std::span<const Request> works) {
  MessagePlan plan;
  plan.shards = ShardsOf(works);
  Lists lists(&plan.lists);
  for (const Request& work : works) {
    WorkPlan& planned = plan.works.emplace_back();
    planned.places = PlacesOf(work, plan.shards);
    planned.mask.resize(MaskWords(plan.shards.size()));
    std::vector<OpenColumn> columns;
    for (std::size_t s = 0; s < work.sections.size(); ++s) {
      const std::uint32_t place = planned.places[s];
      planned.mask[place / kMaskBits] |= std::uint64_t{1} << (place % kMaskBits);
      planned.dense += work.sections[s].dense.size();
      AddSection(place, work.sections[s].tables, work.sections.size(), &columns);
    }
    planned.columns.reserve(columns.size());
    for (OpenColumn& opened : columns) {
      opened.column.list = lists.Add(std::move(opened.list));
      planned.columns.push_back(std::move(opened.column));
    }
  }
  return plan;
}

}  // namespace

MessagePlan PlanOf(std::span<const PullRequest> works) { return Plan(works); }
MessagePlan PlanOf(std::span<const PushRequest> works) { return Plan(works); }

}  // namespace pstrain::data_plane_format
