#include "library/remote/evaluator/saved_state.h"

#include <cstring>

#include "base/os/files.h"
#include "library/variables/row_changes.h"
#include "library/variables/tensor_array.h"
#include "runtime/checkpoint/program_mark.h"

namespace pstrain::program {
namespace {

/// Of `count` rows of `row_bytes`, those at `places`, in their order.
ValueArray Gather(const ValueArray& rows, std::size_t row_elements,
                  const std::vector<std::size_t>& places) {
  ValueArray gathered(rows.dtype(), places.size() * row_elements);
  const std::size_t row_bytes = row_elements * DTypeSize(rows.dtype());
  std::byte* to = gathered.bytes().data();
  for (const std::size_t place : places) {
    std::memcpy(to, rows.bytes().data() + place * row_bytes, row_bytes);
    to += row_bytes;
  }
  return gathered;
}

}  // namespace

SavedState::SavedState(std::string checkpoint, CheckpointReader reader, std::stop_token stop)
    : checkpoint_(std::move(checkpoint)),
      reader_(std::move(reader)),
      stop_(std::move(stop)),
      variables_(
          TableOf({reader_.manifest().variables().begin(), reader_.manifest().variables().end()})) {
}

Result<std::shared_ptr<SavedState>> SavedState::Open(const std::string& folder,
                                                     std::stop_token stop) {
  PSTRAIN_ASSIGN_OR_RETURN(CheckpointReader reader, CheckpointReader::Open(folder));
  PSTRAIN_ASSIGN_OR_RETURN(const bool marked, HasMark(folder));
  std::shared_ptr<SavedState> state(
      new SavedState(BaseName(folder), std::move(reader), std::move(stop)));
  if (marked) {
    PSTRAIN_ASSIGN_OR_RETURN(ProgramMark mark, ReadMark(folder, state->reader_.manifest()));
    state->mark_ = mark.mark();
    state->user_bytes_ = std::move(*mark.mutable_user());
  }
  return state;
}

std::vector<SavedVariable> SavedState::Variables() const {
  std::vector<SavedVariable> saved;
  for (const VariableSpec& spec : reader_.manifest().variables()) {
    const ProgramVariable& variable = variables_.at(spec.name());
    saved.push_back({spec.name(), variable.shape, variable.dtype, variable.table});
  }
  return saved;
}

Result<const ProgramVariable*> SavedState::Find(const std::string& name) const {
  const auto found = variables_.find(name);
  if (found != variables_.end()) return &found->second;
  return NotFoundError("checkpoint " + checkpoint_ + " has no variable " + name);
}

Result<Tensor> SavedState::Read(const std::string& name) {
  PSTRAIN_ASSIGN_OR_RETURN(const ProgramVariable* const variable, Find(name));
  if (variable->table) {
    return InvalidArgumentError("embedding table " + name +
                                " cannot be read whole; look its rows up, of which RowIds says "
                                "which there are");
  }
  PSTRAIN_ASSIGN_OR_RETURN(ValueArray values, Noted(reader_.DenseArray(name)));
  return ToTensor(variable->shape, std::move(values));
}

Result<Tensor> SavedState::Lookup(const std::string& name, const Tensor& ids) {
  PSTRAIN_ASSIGN_OR_RETURN(const ProgramVariable* const variable, Find(name));
  PSTRAIN_ASSIGN_OR_RETURN(const NamedRows named, NamedRows::Of(name, *variable, ids));
  std::vector<std::size_t> places = named.places;
  ValueArray rows;
  if (variable->table) {
    PSTRAIN_ASSIGN_OR_RETURN(rows, Noted(reader_.RowsArray(name, named.rows)));
  } else {
    PSTRAIN_ASSIGN_OR_RETURN(rows, Noted(reader_.DenseArray(name)));
    for (std::size_t& place : places) place = named.rows[place];
  }
  return ToTensor(ShapeOfRows(ids, *variable), Gather(rows, variable->row_elements(), places));
}

Result<Tensor> SavedState::RowIds(const std::string& name) {
  PSTRAIN_ASSIGN_OR_RETURN(const ProgramVariable* const variable, Find(name));
  if (!variable->table) {
    return InvalidArgumentError("variable " + name + " is no embedding table: it has all its rows");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> held, Noted(reader_.HeldKeys(name)));
  return Tensor::From(std::vector<std::int64_t>(held.begin(), held.end()));
}

}  // namespace pstrain::program
