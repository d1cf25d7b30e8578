#include "runtime/ps/shard_transfer.h"

#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "base/crc32c.h"
#include "runtime/checkpoint/checkpoint_shard_format.h"
#include "runtime/wire/data_op.h"

namespace pstrain {
namespace {

constexpr std::string_view kFetchMagic = "PSf1";
constexpr std::string_view kTransferMagic = "PSg1";

struct FetchBody {
  char magic[4];
  std::uint32_t shard;
  std::uint64_t chief_term;
  std::uint64_t counter;
};
struct TransferHeader {
  char magic[4];
  std::uint32_t crc32c;
};

}  // namespace

Bytes EncodeFetch(const ShardInTerm& shard) {
  FetchBody body{{}, shard.shard, shard.term.chief_term, shard.term.counter};
  std::memcpy(body.magic, kFetchMagic.data(), sizeof(body.magic));
  return Bytes::FromString(std::string(reinterpret_cast<const char*>(&body), sizeof(body)));
}

Result<ShardInTerm> ParseFetch(const Bytes& body) {
  FetchBody fetch{};
  if (body.size() != sizeof(fetch) || !body.view().starts_with(kFetchMagic)) {
    return InvalidArgumentError("fetch request: malformed");
  }
  std::memcpy(&fetch, body.data(), sizeof(fetch));
  return ShardInTerm{fetch.shard, {fetch.chief_term, fetch.counter}};
}

Bytes EncodeTransfer(const ShardState& state) {
  const std::string checkpoint_shard = SerializeCheckpointShard(state);
  TransferHeader header{{}, Crc32c(checkpoint_shard)};
  std::memcpy(header.magic, kTransferMagic.data(), sizeof(header.magic));
  std::string body(reinterpret_cast<const char*>(&header), sizeof(header));
  body += checkpoint_shard;
  return Bytes::FromString(std::move(body));
}

Result<ShardState> ParseTransfer(const Bytes& body) {
  TransferHeader header{};
  if (body.size() < sizeof(header) || !body.view().starts_with(kTransferMagic)) {
    return DataLossError("transferred shard: malformed");
  }
  std::memcpy(&header, body.data(), sizeof(header));
  const std::string_view checkpoint_shard = body.view().substr(sizeof(header));
  if (Crc32c(checkpoint_shard) != header.crc32c) {
    return DataLossError("transferred shard: corrupt, its checksum differs");
  }
  auto state = ParseCheckpointShard(checkpoint_shard);
  if (!state.ok()) return state.status().WithContext("transferred shard");
  return state;
}

Result<std::vector<ShardState>> FetchShards(Connection& source,
                                            const std::vector<ShardInTerm>& shards,
                                            std::chrono::steady_clock::time_point deadline) {
  std::vector<std::future<Result<Bytes>>> replies;
  for (const ShardInTerm& shard : shards) {
    auto promise = std::make_shared<std::promise<Result<Bytes>>>();
    replies.push_back(promise->get_future());
    source.Call(static_cast<std::uint16_t>(DataOp::kFetch), {EncodeFetch(shard)}, deadline,
                [promise](Result<Bytes> reply) { promise->set_value(std::move(reply)); });
  }
  std::vector<ShardState> states;
  Status status;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string context = "fetch shard " + std::to_string(shards[i].shard);
    const Result<Bytes> reply = replies[i].get();
    if (!status.ok()) continue;
    Result<ShardState> state = reply.ok() ? ParseTransfer(*reply) : reply.status();
    if (!state.ok()) {
      status = state.status().WithContext(context);
    } else if (state->shard != shards[i].shard || state->term != shards[i].term) {
      status = DataLossError(context + ": the answer is of another shard or shard term");
    } else {
      states.push_back(std::move(state).value());
    }
  }
  if (!status.ok()) return status;
  return states;
}

}  // namespace pstrain
