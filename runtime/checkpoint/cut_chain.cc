#include "runtime/checkpoint/cut_chain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/files.h"
#include "runtime/checkpoint/cuts.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/piece.h"

namespace pstrain {
namespace {

Result<CutManifest> ReadBase(const std::string& directory, const CutManifest& above) {
  const std::optional<CutId> id = ParseCutName(above.base());
  const CutId above_id{above.chief_epoch(), above.number()};
  // Ids fall from link to link, so a chain ends.
  if (!id || *id >= above_id) return DataLossError("base " + above.base() + " is not an older cut");
  auto manifest = ReadManifest(directory);
  if (!manifest.ok()) return DataLossError("its base: " + manifest.status().message());
  const bool fits = manifest->run_id() == above.run_id() && manifest->shards() == above.shards() &&
                    CutId{manifest->chief_epoch(), manifest->number()} == *id;
  if (!fits) return DataLossError("base " + directory + " is of another run or cut");
  return manifest;
}

/// Rows of two tables of which the keys ascend; a row that both have comes from `newer`.
class RowMerge {
 public:
  RowMerge(TableState newer, TableState older)
      : newer_(std::move(newer)), older_(std::move(older)) {
    merged_.variable = newer_.variable;
    merged_.slots.resize(newer_.slots.size());
  }

  Result<TableState> Run() {
    const std::size_t dimension = Dimension(newer_);
    const bool fits = newer_.variable == older_.variable &&
                      newer_.slots.size() == older_.slots.size() && dimension == Dimension(older_);
    if (!fits) return DataLossError("a table differs in size from that of its base");
    std::size_t n = 0;
    std::size_t o = 0;
    while (n < newer_.keys.size() || o < older_.keys.size()) {
      const bool take_newer =
          o == older_.keys.size() || (n < newer_.keys.size() && newer_.keys[n] <= older_.keys[o]);
      if (take_newer) {
        if (o < older_.keys.size() && older_.keys[o] == newer_.keys[n]) ++o;
        Take(newer_, n++, dimension);
      } else {
        Take(older_, o++, dimension);
      }
    }
    return std::move(merged_);
  }

 private:
  static std::size_t Dimension(const TableState& table) {
    return table.values.size() / table.keys.size();
  }
  void Take(const TableState& from, std::size_t row, std::size_t dimension) {
    const auto append = [&](const std::vector<float>& values, std::vector<float>* to) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * dimension);
      to->insert(to->end(), first, first + static_cast<std::ptrdiff_t>(dimension));
    };
    merged_.keys.push_back(from.keys[row]);
    append(from.values, &merged_.values);
    for (std::size_t i = 0; i < merged_.slots.size(); ++i) append(from.slots[i], &merged_.slots[i]);
  }

  const TableState newer_;
  const TableState older_;
  TableState merged_;
};

Status AddOlderRows(ShardState older, ShardState* state) {
  if (older.tables.size() != state->tables.size())
    return DataLossError("its base has other tables");
  for (std::size_t i = 0; i < older.tables.size(); ++i) {
    TableState& table = state->tables[i];
    if (older.tables[i].keys.empty()) continue;
    if (table.keys.empty() && table.variable == older.tables[i].variable) {
      table = std::move(older.tables[i]);
      continue;
    }
    PSTRAIN_ASSIGN_OR_RETURN(table, RowMerge(std::move(table), std::move(older.tables[i])).Run());
  }
  state->incremental = older.incremental;
  return OkStatus();
}

}  // namespace

CutChain::Link CutChain::MakeLink(const std::string& directory, CutManifest manifest) {
  Link link{directory, std::move(manifest), {}};
  link.piece_of.resize(link.manifest.shards());
  for (int i = 0; i < link.manifest.pieces_size(); ++i) {
    link.piece_of[link.manifest.pieces(i).shard()] = i;
  }
  return link;
}

Result<CutChain> CutChain::Open(const std::string& cut_directory) {
  CutChain chain;
  PSTRAIN_ASSIGN_OR_RETURN(CutManifest manifest, ReadManifest(cut_directory));
  chain.links_.push_back(MakeLink(cut_directory, std::move(manifest)));
  while (!chain.links_.back().manifest.base().empty()) {
    const CutManifest& above = chain.links_.back().manifest;
    const std::string directory = JoinPath(ParentPath(cut_directory), above.base());
    auto base = ReadBase(directory, above);
    if (!base.ok()) return base.status().WithContext("cut " + chain.links_.back().directory);
    chain.links_.push_back(MakeLink(directory, std::move(base).value()));
  }
  return chain;
}

Result<std::vector<CutChain::Located>> CutChain::PiecesOf(ShardId shard) const {
  if (shard >= manifest().shards()) {
    return InvalidArgumentError("cut " + links_.front().directory + " has no shard " +
                                std::to_string(shard));
  }
  std::vector<Located> pieces;
  for (const Link& link : links_) {
    const CutPiece& piece = link.manifest.pieces(link.piece_of[shard]);
    if (!pieces.empty()) {
      const CutPiece& above = *pieces.back().piece;
      if (above.term_epoch() != piece.term_epoch() ||
          above.term_counter() != piece.term_counter()) {
        return DataLossError("piece " + JoinPath(*pieces.back().directory, above.file()) +
                             ": its base is of another term");
      }
    }
    pieces.push_back({&link.directory, &piece});
    if (!piece.incremental()) return pieces;
  }
  return DataLossError("piece " + JoinPath(*pieces.back().directory, pieces.back().piece->file()) +
                       ": incremental without a base");
}

Result<ShardState> CutChain::Read(ShardId shard) const {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<Located> pieces, PiecesOf(shard));
  std::optional<ShardState> state;
  for (const Located& located : pieces) {
    PSTRAIN_ASSIGN_OR_RETURN(ShardState read, ReadPiece(*located.directory, *located.piece));
    if (!state) {
      state = std::move(read);
      continue;
    }
    PSTRAIN_RETURN_IF_ERROR(AddOlderRows(std::move(read), &*state)
                                .WithContext("piece " + JoinPath(*pieces.front().directory,
                                                                 pieces.front().piece->file())));
  }
  return *std::move(state);
}

Status CutChain::Check() const {
  for (ShardId shard = 0; shard < manifest().shards(); ++shard) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::vector<Located> pieces, PiecesOf(shard));
    for (const Located& located : pieces) {
      PSTRAIN_RETURN_IF_ERROR(CheckPiece(*located.directory, *located.piece));
    }
  }
  return OkStatus();
}

}  // namespace pstrain
