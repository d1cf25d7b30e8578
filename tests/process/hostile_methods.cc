#include "tests/process/hostile_methods.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "proto/contract/control.pb.h"
#include "runtime/cluster/limits.h"
#include "runtime/rpc/frame.h"
#include "runtime/wire/data_plane.h"

namespace pstrain {
namespace {

constexpr DataOp kOps[] = {DataOp::kPull, DataOp::kPush, DataOp::kFetch};
/// No job has that many.
constexpr std::uint32_t kBeyond = 1'000'000;
/// Of a shard that a job has; nothing here gets so far that the term counts.
constexpr ShardTerm kTerm{1, 1};
/// What it would be assigned or added to does not exist.
const std::vector<float> kOneValue = {1};

/// Why a job is to end.
constexpr char kLie[] = "no attempt can succeed";
const std::string kTooLong(kMostTextBytes + 1, 'x');
/// Of no replica's process; this chief has given it to nobody.
constexpr std::uint64_t kProcess = 666;
constexpr std::uint64_t kIncarnation = (std::uint64_t{1} << 32) | 1;

std::string TextOf(const WireBuffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), buffer.size()};
}

PushRequest SmallPush() {
  PushRequest push;
  push.records = 1;
  push.sections.push_back({0, kTerm, {}, {}});
  return push;
}

std::vector<std::string> MalformedPulls() {
  const std::string pull = TextOf(EncodePullRequest(PullRequest{{{0, kTerm, {{0, 0}}, {}}}}));
  PullRequest waits_for_ever{{{0, kTerm, {{0, 0}}, {}}}};
  waits_for_ever.grant.after.batch = ~std::uint32_t{0};
  return {"",
          "x",
          pull.substr(0, pull.size() - 8),
          pull + std::string(8, '\0'),
          std::string(64, '\xff'),
          TextOf(EncodePushRequest(SmallPush())),
          TextOf(EncodePullRequest(PullRequest{{{kBeyond, kTerm, {}, {}}}})),
          TextOf(EncodePullRequest(PullRequest{{{0, kTerm, {}, {}}, {0, kTerm, {}, {}}}})),
          TextOf(EncodePullRequest(waits_for_ever))};
}

std::vector<std::string> MalformedPushes() {
  const std::string push = TextOf(EncodePushRequest(SmallPush()));
  PushRequest skips_too_much = SmallPush();
  skips_too_much.skipped = 2;
  PushRequest no_such_batch = SmallPush();
  no_such_batch.work_id.batch = ~std::uint32_t{0};
  PushRequest no_such_shard = SmallPush();
  no_such_shard.sections[0].shard = kBeyond;
  PushRequest a_shard_twice = SmallPush();
  a_shard_twice.sections.push_back({0, kTerm, {}, {}});
  return {"",
          "x",
          push.substr(0, push.size() - 8),
          push + std::string(8, '\0'),
          std::string(64, '\xff'),
          TextOf(EncodePullRequest(PullRequest{{{0, kTerm, {}, {}}}})),
          TextOf(EncodePushRequest(skips_too_much)),
          TextOf(EncodePushRequest(no_such_batch)),
          TextOf(EncodePushRequest(no_such_shard)),
          TextOf(EncodePushRequest(a_shard_twice))};
}

/// Of 24 bytes with a magic number (runtime/ps/shard_transfer.h).
std::vector<std::string> MalformedFetches() {
  return {"", "x", std::string(24, '\0'), "PSf1" + std::string(19, '\0'),
          "PSf1" + std::string(21, '\0')};
}

std::vector<std::string> WorstHeartbeats() {
  HeartbeatPsRequest ends_the_job;
  ends_the_job.set_incarnation(kIncarnation);
  ends_the_job.set_leaving(true);
  ends_the_job.set_failure(kLie);
  HeartbeatPsRequest too_long = ends_the_job;
  too_long.set_failure(kTooLong);
  HeartbeatPsRequest no_such_ps = ends_the_job;
  no_such_ps.set_index(kBeyond);
  return {ends_the_job.SerializeAsString(), too_long.SerializeAsString(),
          no_such_ps.SerializeAsString()};
}

std::vector<std::string> WorstPolls() {
  PollWorkerRequest takes_all;
  takes_all.set_process(kProcess);
  takes_all.set_want(64);
  PollWorkerRequest ends_the_job = takes_all;
  ends_the_job.set_leaving(true);
  ends_the_job.set_failure(kLie);
  PollWorkerRequest too_long = ends_the_job;
  too_long.set_failure(kTooLong);
  return {takes_all.SerializeAsString(), ends_the_job.SerializeAsString(),
          too_long.SerializeAsString()};
}

std::vector<std::string> WorstEvaluations() {
  PollEvaluatorRequest ends_the_job;
  ends_the_job.set_process(kProcess);
  ends_the_job.set_sequence(~std::uint64_t{0});
  ends_the_job.set_leaving(true);
  ends_the_job.set_failure(kLie);
  PollEvaluatorRequest perfect;
  perfect.set_process(kProcess);
  perfect.set_sequence(~std::uint64_t{0});
  perfect.set_checkpoint("1-1");
  (*perfect.mutable_metrics())["auc"] = 1;
  PollEvaluatorRequest no_such_place = perfect;
  no_such_place.set_checkpoint("../../1-1");
  no_such_place.set_pinned("/");
  PollEvaluatorRequest too_long = ends_the_job;
  too_long.set_failure(kTooLong);
  too_long.set_error(kTooLong);
  too_long.set_checkpoint(kTooLong);
  return {ends_the_job.SerializeAsString(), perfect.SerializeAsString(),
          no_such_place.SerializeAsString(), too_long.SerializeAsString()};
}

}  // namespace

const std::vector<Method>& Methods() {
  static const std::vector<Method> methods = {
      {"/pstrain.ChiefControl/Hello",
       Audience::kChief,
       {Role::kChief, Role::kPs, Role::kWorker, Role::kEvaluator}},
      {"/pstrain.ChiefControl/RegisterPs", Audience::kChief, {Role::kPs}, Names::kIndexAndAttempt},
      {"/pstrain.ChiefControl/HeartbeatPs", Audience::kChief, {Role::kPs}, Names::kIndex},
      {"/pstrain.ChiefControl/PollWorker",
       Audience::kChief,
       {Role::kWorker},
       Names::kIndexAndAttempt},
      {"/pstrain.ChiefControl/AwaitWork",
       Audience::kChief,
       {Role::kWorker},
       Names::kIndexAndAttempt},
      {"/pstrain.ChiefControl/PollEvaluator",
       Audience::kChief,
       {Role::kEvaluator},
       Names::kIndexAndAttempt},
      {"/pstrain.ParameterServer/Configure", Audience::kPs, {Role::kChief}},
      {"/pstrain.ParameterServer/AssignShards", Audience::kPs, {Role::kChief}},
      {"/pstrain.ParameterServer/WriteCheckpointShards", Audience::kPs, {Role::kChief}},
      {"/pstrain.ParameterServer/Release", Audience::kPs, {Role::kChief}},
      {kStream, Audience::kPs, {Role::kWorker, Role::kPs}}};
  return methods;
}

std::vector<std::string> WorstRequests(const Method& method) {
  const std::string_view name = method.name;
  if (name == kStream) {
    std::vector<std::string> frames;
    for (const DataOp op : kOps) frames.push_back(Frame(op, std::string(24, '\0')));
    return frames;
  }
  // All that a ps is asked begins with the same two fields.
  if (name.starts_with("/pstrain.ParameterServer/")) {
    ReleaseRequest request;
    request.set_chief_term(1);
    request.set_incarnation(kIncarnation);
    request.set_finished(true);
    return {request.SerializeAsString()};
  }
  if (name.ends_with("HeartbeatPs")) return WorstHeartbeats();
  if (name.ends_with("PollWorker")) return WorstPolls();
  if (name.ends_with("PollEvaluator")) return WorstEvaluations();
  if (name.ends_with("AwaitWork")) {
    AwaitWorkRequest request;
    request.set_membership_seen(~std::uint64_t{0});
    request.set_want(true);
    return {request.SerializeAsString()};
  }
  if (name.ends_with("RegisterPs")) {
    RegisterPsRequest request;
    request.set_process(kProcess);
    request.set_address("127.0.0.1:1");
    return {request.SerializeAsString()};
  }
  return {std::string()};
}

std::string Frame(DataOp op, const std::string& body) {
  const auto header = EncodeFrameHeader(
      {.op = static_cast<std::uint16_t>(op), .request_id = 1, .body_length = body.size()});
  return std::string(reinterpret_cast<const char*>(header.data()), header.size()) + body;
}

std::vector<std::string> MalformedMessages() {
  return {
      std::string("\xff\xff\xff\xff"),  // a tag without an end
      std::string("\x0a\x7f"),          // field 1, of 127 bytes that do not come
      std::string("\x08"),              // field 1, a number that does not come
      std::string("\x0f"),              // field 1, of a wire type that there is not
      std::string("\x0c"),              // the end of a group that has no beginning
      std::string(64, '\0'),            // field 0
  };
}

std::vector<std::string> MalformedFrames() {
  const std::string frame = Frame(DataOp::kPull, std::string(24, '\0'));
  constexpr std::size_t kVersion = 4;
  constexpr std::size_t kFlags = 8;
  constexpr std::size_t kStatus = 12;
  const auto with = [&frame](std::size_t at, char byte) {
    std::string changed = frame;
    changed[at] = byte;
    return changed;
  };
  return {"",
          "no frame",
          frame.substr(0, kFrameHeaderSize - 1),
          frame.substr(0, frame.size() - 1),
          frame + '\0',
          with(0, 'x'),
          with(kVersion, 9),
          with(kFlags, 2),
          with(kFlags, 1),
          with(kStatus, 3)};
}

std::string PullOfAnUndeclaredVariable() {
  return TextOf(EncodePullRequest(PullRequest{{{0, kTerm, {{kBeyond, 0}}, {}}}}));
}

std::string PushOfAnUndeclaredVariable() {
  PushRequest push = SmallPush();
  push.sections[0].dense.push_back({kBeyond, 0, kOneValue});
  return TextOf(EncodePushRequest(push));
}

std::vector<MalformedBody> MalformedBodies() {
  std::vector<MalformedBody> all;
  for (const std::string& body : MalformedPulls())
    all.push_back({Role::kWorker, DataOp::kPull, body});
  for (const std::string& body : MalformedPushes())
    all.push_back({Role::kWorker, DataOp::kPush, body});
  for (const std::string& body : MalformedFetches())
    all.push_back({Role::kPs, DataOp::kFetch, body});
  return all;
}

}  // namespace pstrain
