// Cuts: the chief's shell that takes them, the ps that write them, the disk.
#include <algorithm>
#include <utility>

#include "runtime/checkpoint/retention.h"
#include "tests/coordinator/simulation.h"

namespace pstrain {
namespace {

constexpr std::uint32_t kKeptCuts = 3;

}  // namespace

void Simulation::StartCut(Chief* chief, Process process) {
  std::optional<CutPlan> plan = chief->core.StartCut();
  if (!plan) return;
  chief->cut = ActiveCut{{chief->epoch, next_id_++}, step_, *std::move(plan), {}};
  for (const CutPlan::Ps& part : chief->cut->plan.ps) {
    for (const MembershipView::Ps& ps : chief->core.membership().ps) {
      if (ps.incarnation != part.incarnation) continue;
      Send([this, process, cut = *chief->cut, part, to = std::stoull(ps.address)] {
        WritePieces(process, cut, part, to);
      });
    }
  }
}

// The shards of a ps are copied at different moments.
void Simulation::WritePieces(Process chief, const ActiveCut& cut, const CutPlan::Ps& part,
                             Process ps) {
  for (const ReportedCopy& wanted : part.shards) {
    Send([this, chief, cut, wanted, ps] {
      const auto it = ps_.find(ps);
      if (it == ps_.end()) return;
      const auto held = it->second.copies.find(wanted.shard);
      if (held == it->second.copies.end() || held->second.term != wanted.term ||
          held->second.frozen) {
        return Send([=, this] { PieceArrived(chief, cut.id, std::nullopt, wanted.shard); });
      }
      held->second.applied.CloseEpochsBelow(cut.plan.close_epochs_below);
      const Copy piece = CopyForCut(&held->second, cut);
      if (!mutations_.piece_not_atomic) {
        return Send([=, this] { PieceArrived(chief, cut.id, piece, wanted.shard); });
      }
      Send([=, this] {
        const auto later = ps_.find(ps);
        if (later == ps_.end() || !later->second.copies.contains(wanted.shard)) return;
        Copy torn = piece;
        torn.applied = later->second.copies.at(wanted.shard).applied;
        PieceArrived(chief, cut.id, torn, wanted.shard);
      });
    });
  }
}

Simulation::Copy Simulation::CopyForCut(Copy* copy, const ActiveCut& cut) const {
  auto base = copy->copied.find(cut.plan.base);
  if (mutations_.marks_forgotten_early && base != copy->copied.end()) {
    base = std::ranges::max_element(copy->copied, {}, [](const auto& c) { return c.second; });
  }
  Copy piece = *copy;
  if (base != copy->copied.end()) {
    piece.incremental = true;
    std::erase_if(piece.rows, [&](const auto& row) { return row.second.mark <= base->second; });
  }
  std::erase_if(copy->copied, [&](const auto& copied) {
    const bool wanted = copied.first == cut.plan.base || copied.first == CutName(cut.id);
    return !wanted && !mutations_.marks_forgotten_early;
  });
  if (copy->copied.try_emplace(CutName(cut.id), copy->mark).second) ++copy->mark;
  return piece;
}

void Simulation::PieceArrived(Process process, CutId cut, std::optional<Copy> piece,
                              ShardId shard) {
  const auto chief = chiefs_.find(process);
  if (chief == chiefs_.end() || !chief->second->cut || chief->second->cut->id != cut) return;
  if (!piece) return AbandonCut(chief->second.get());
  chief->second->cut->pieces.insert_or_assign(shard, *std::move(piece));
}

void Simulation::AbandonCut(Chief* chief) {
  chief->core.CutFailed();
  chief->cut.reset();
  ++result_.cuts_abandoned;
}

void Simulation::PlaceCut(Chief* chief, Process process) {
  const ActiveCut& active = *chief->cut;
  std::vector<WrittenPiece> pieces;
  Cut cut{active.id, CutName(active.id), "", active.pieces, false};
  for (const auto& [shard, piece] : active.pieces) {
    pieces.push_back({shard, piece.term, piece.incremental, 1 + piece.rows.size()});
    if (piece.incremental) cut.base = active.plan.base;
  }
  const bool final = active.plan.final;
  if (!chief->core.FinishCut(pieces).ok() || chief->epoch < disk_epoch_) return AbandonCut(chief);
  if (Faulty() && Chance(10)) {  // Dies before the rename.
    chiefs_.erase(process);
    return;
  }
  chief->cut.reset();
  ++result_.cuts;
  if (!cut.base.empty()) ++result_.cuts_incremental;
  // Only the newest cut is ever damaged, and only while all others are good.
  const bool damage =
      Faulty() && !disk_.empty() && !final && Chance(6) && std::ranges::none_of(disk_, &Cut::bad);
  disk_.push_front(std::move(cut));
  CheckCut(disk_.front(), final);
  disk_.front().bad = damage;
  if (Faulty() && Chance(10)) {  // Dies after the rename.
    chiefs_.erase(process);
    return;
  }
  chief->core.CutPlaced(disk_.front().name);
  Retain(chief);
  const CoreProgress progress = chief->core.Progress();
  if (final) {
    finished_ = true;
    result_.reopened = progress.tokens_reopened;
    if (progress.examples_committed != progress.examples_expected) {
      Violated("committed is not expected");
    }
  } else if (chief->core.Drained()) {
    KillEverything();
  }
}

void Simulation::CheckCut(const Cut& cut, bool final) {
  const bool damaged = std::ranges::any_of(disk_, &Cut::bad);
  for (const auto& [shard, piece] : cut.pieces) {
    const std::optional<Copy> whole = ReadCut(cut.name, shard);
    if (!whole) {
      if (!damaged) Violated("a cut lacks what it builds on");
      continue;
    }
    std::map<std::uint32_t, std::uint64_t> values;
    for (const auto& [number, row] : whole->rows) values[number] = row.value;
    if (values != Expected(whole->applied)) Violated("a cut's rows are not those of its tokens");
    if (final && !whole->applied.Missing(run_.epochs).empty()) {
      Violated("the final cut lacks a token in shard " + std::to_string(shard));
    }
  }
}

void Simulation::Retain(Chief* chief) {
  std::vector<CutFolder> folders;
  for (const Cut& cut : disk_) folders.push_back({cut.id, true, ParseCutName(cut.base)});
  if (mutations_.retention_ignores_bases) {
    for (CutFolder& folder : folders) folder.base.reset();
  }
  for (const CutId& id : PlanRetention(folders, {kKeptCuts, chief->epoch, {}})) {
    chief->core.CutRemoved(CutName(id));
    std::erase_if(disk_, [&](const Cut& cut) { return cut.id == id; });
  }
}

std::optional<Simulation::Copy> Simulation::ReadCut(const std::string& name, ShardId shard) const {
  const auto cut = std::ranges::find(disk_, name, &Cut::name);
  if (cut == disk_.end() || cut->bad) return std::nullopt;
  Copy copy = cut->pieces.at(shard);
  if (!copy.incremental) return copy;
  const std::optional<Copy> base = ReadCut(cut->base, shard);
  if (!base || base->term != copy.term) return std::nullopt;
  copy.rows.insert(base->rows.begin(), base->rows.end());
  copy.incremental = false;
  return copy;
}

}  // namespace pstrain
