#include "library/worker/prepared_outcome.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "library/worker/prepared.pb.h"
#include "runtime/requests/dtype.h"
#include "runtime/requests/requests.h"

namespace pstrain {
namespace {

constexpr std::uint32_t kFormat = 1;

/// Of an update, dense or of rows.
template <typename Update, typename Wire>
void SetUpdate(const Update& update, Wire* wire) {
  wire->set_op(static_cast<std::uint32_t>(update.op));
  wire->set_dtype(static_cast<std::uint32_t>(update.values.dtype()));
  wire->set_values(update.values.bytes().data(), update.values.bytes().size());
}

template <typename Wire, typename Update>
Status GetUpdate(const Wire& wire, Update* update) {
  if (wire.op() > static_cast<std::uint32_t>(kLastUpdateOp)) {
    return InvalidArgumentError("op " + std::to_string(wire.op()) + ", which is none");
  }
  if (wire.dtype() > static_cast<std::uint32_t>(kLastDType)) {
    return InvalidArgumentError("dtype " + std::to_string(wire.dtype()) +
                                ", which no variable has");
  }
  const auto dtype = static_cast<DType>(wire.dtype());
  const std::size_t bytes = wire.values().size();
  if (bytes % SizeOf(dtype) != 0) {
    return InvalidArgumentError(std::to_string(bytes) + " bytes, which are no elements of " +
                                NameOf(dtype));
  }
  update->op = static_cast<UpdateOp>(wire.op());
  update->values = ValueArray(dtype, bytes / SizeOf(dtype));
  if (bytes > 0) std::memcpy(update->values.bytes().data(), wire.values().data(), bytes);
  return OkStatus();
}

Result<RowAccess> FromWire(const WirePreparedRequest& wire) {
  RowAccess request{wire.variable(), {wire.rows().begin(), wire.rows().end()}};
  if (std::ranges::adjacent_find(request.rows, std::greater_equal<>()) == request.rows.end()) {
    return request;
  }
  return InvalidArgumentError("rows of variable " + std::to_string(wire.variable()) +
                              " that do not ascend");
}

Result<StepUpdates::Rows> FromWire(const WirePreparedRows& wire,
                                   const std::vector<RowAccess>& requests) {
  StepUpdates::Rows update;
  PSTRAIN_RETURN_IF_ERROR(GetUpdate(wire, &update));
  update.request = wire.request();
  if (update.request >= requests.size()) {
    return InvalidArgumentError("values of rows that are not named");
  }
  const std::size_t rows = requests[update.request].rows.size();
  if (rows == 0 ? update.values.empty() : update.values.size() % rows == 0) return update;
  return InvalidArgumentError(std::to_string(update.values.size()) + " values of " +
                              std::to_string(rows) + " rows");
}

Result<ClosureOutcome> FromWire(const WirePreparedOutcome& wire) {
  if (wire.format() != kFormat) {
    return InvalidArgumentError("format " + std::to_string(wire.format()) + " instead of " +
                                std::to_string(kFormat));
  }
  ClosureOutcome outcome;
  outcome.atomic = true;
  outcome.result = wire.result();
  for (const WirePreparedRequest& request : wire.requests()) {
    PSTRAIN_ASSIGN_OR_RETURN(RowAccess added, FromWire(request));
    outcome.access.requests.push_back(std::move(added));
  }
  for (const WirePreparedDense& dense : wire.dense()) {
    StepUpdates::Dense& update = outcome.updates.dense.emplace_back();
    update.variable = dense.variable();
    PSTRAIN_RETURN_IF_ERROR(GetUpdate(dense, &update));
  }
  for (const WirePreparedRows& rows : wire.rows()) {
    PSTRAIN_ASSIGN_OR_RETURN(StepUpdates::Rows update, FromWire(rows, outcome.access.requests));
    outcome.updates.rows.push_back(std::move(update));
  }
  return outcome;
}

}  // namespace

std::string EncodePrepared(const ClosureOutcome& outcome) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  WirePreparedOutcome wire;
  // Only those that are changed travel.
  std::vector<std::uint32_t> place(outcome.access.requests.size(), kNone);
  for (const StepUpdates::Rows& update : outcome.updates.rows) {
    WirePreparedRows* const rows = wire.add_rows();
    SetUpdate(update, rows);
    std::uint32_t& at = place[update.request];
    if (at == kNone) {
      at = static_cast<std::uint32_t>(wire.requests_size());
      const RowAccess& from = outcome.access.requests[update.request];
      WirePreparedRequest* const request = wire.add_requests();
      request->set_variable(from.variable);
      request->mutable_rows()->Add(from.rows.begin(), from.rows.end());
    }
    rows->set_request(at);
  }
  for (const StepUpdates::Dense& update : outcome.updates.dense) {
    WirePreparedDense* const dense = wire.add_dense();
    dense->set_variable(update.variable);
    SetUpdate(update, dense);
  }
  wire.set_result(outcome.result);
  wire.set_format(kFormat);
  return wire.SerializeAsString();
}

Result<ClosureOutcome> DecodePrepared(std::string_view bytes) {
  WirePreparedOutcome wire;
  const bool is_message = bytes.size() <= std::numeric_limits<int>::max() &&
                          wire.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  Result<ClosureOutcome> outcome =
      is_message ? FromWire(wire) : InvalidArgumentError("these bytes are no message");
  if (outcome.ok()) return outcome;
  return outcome.status().WithContext("what an attempt of an atomic function has come to");
}

}  // namespace pstrain
