#include "runtime/ps/run_ps.h"

#include <functional>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/os/files.h"
#include "base/random.h"
#include "proto/contract/task_env.h"
#include "proto/job/fixed_fields.h"
#include "runtime/cluster/chief_patience.h"
#include "runtime/ps/data_handler.h"
#include "runtime/ps/ps_control.h"
#include "runtime/ps/stream_admission.h"
#include "runtime/rpc/chief_client.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/rpc/in_process/local_network.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kHeartbeat{1000};
constexpr milliseconds kAwayPause{100};
constexpr milliseconds kStatsInterval{200};
/// Of the chief and the one before it, and a reserve.
constexpr std::size_t kOtherConnections = 64;
/// Left of the grace period when a release does not come.
constexpr std::chrono::seconds kGraceReserve{2};

void PublishStats(const ShardEngine& engine, const PsDataHandler& handler, PsStats& stats) {
  const ShardEngineStats& now = engine.stats();
  const auto raise = [](Counter* counter, std::uint64_t value) {
    counter->Add(value - counter->Value());
  };
  raise(stats.pushes_applied, now.pushes_applied);
  raise(stats.duplicates_refused, now.duplicates);
  raise(stats.not_owner, now.not_owner);
  stats.queue_seconds->Add(static_cast<double>(now.queue_ns) * 1e-9 - stats.queue_seconds->Value());
  stats.busy_seconds->Add(static_cast<double>(now.busy_ns) * 1e-9 - stats.busy_seconds->Value());
  raise(stats.rows_read, now.rows_read);
  raise(stats.rows_written, now.rows_written);
  raise(stats.bytes_received, handler.stats().bytes_received);
  raise(stats.bytes_sent, handler.stats().bytes_sent);
  stats.queue_length->Set(static_cast<double>(now.queue_length));
  stats.shards->Set(static_cast<double>(now.shard_copies));
  stats.state_bytes->Set(static_cast<double>(now.state_bytes));
}

/// Each worker and each other ps has one stream, and an old one while the new one is opened.
std::uint32_t MostStreams(const RoleContext& context) {
  return 2 * (context.most_workers + kMostReplicas);
}

/// The data plane at an address of its own, by whichever transport the address names. Null where it
/// shares the port of the control plane, as gRPC can.
Result<std::unique_ptr<TransportServer>> ServeData(const RoleContext& context, Transport& transport,
                                                   PsDataHandler& handler,
                                                   const ServeOptions& options) {
  if (context.data_address.empty()) return std::unique_ptr<TransportServer>();
  Result<std::unique_ptr<TransportServer>> server =
      transport.Serve(context.data_address, handler, options);
  if (!server.ok()) return server.status().WithContext(std::string(kDataAddressEnv));
  LogInfo("ps", "the data plane has an address of its own", {{"address", (*server)->address()}});
  return server;
}

/// The ps' conversation with the chief, step by step; the caller sleeps in between.
class Registration {
 public:
  /// `data_address`: empty where the data plane is served at the context's own address.
  Registration(const RoleContext& context, ShardEngine& engine, PsControl& control,
               std::string data_address)
      : context_(context), engine_(engine), control_(control), client_(ConnectToChief(context)) {
    request_.set_index(context.index);
    request_.set_process(RandomSeed());
    request_.set_attempt(context.attempt);
    request_.set_address(context.own_address);
    request_.set_data_address(std::move(data_address));
    const FixedDigests job = DigestsOf(context.job);
    request_.mutable_job()->insert(job.begin(), job.end());
  }

  /// False until a chief has described the run, and while no chief knows this ps and it has no
  /// copy.
  bool MayHaveShards() const {
    return engine_.configured() && (incarnation_ || request_.copies_size() > 0);
  }

  /// The chief is to hear of something now.
  bool Urgent() const { return !failure_told_ && !engine_.health().ok(); }

  /// The exit code, once the chief has answered that the run ends.
  const std::optional<int>& ended() const { return ended_; }

  /// Not OK: this ps was started with another job than the chief.
  const Status& refusal() const { return refusal_; }

  /// Registers, or says that it is alive. UNAVAILABLE and the like: the chief is away.
  Status Step(bool leaving) {
    if (!incarnation_) return Register();
    HeartbeatPsRequest heartbeat;
    heartbeat.set_index(context_.index);
    heartbeat.set_incarnation(*incarnation_);
    heartbeat.set_call_key(call_key_);
    heartbeat.set_leaving(leaving);
    if (const Status health = engine_.health(); !health.ok()) {
      heartbeat.set_failure(health.message() + WithField("; lower the learning rate of ",
                                                         context_.job.fields.optimizer));
    }
    PSTRAIN_ASSIGN_OR_RETURN(const HeartbeatPsReply reply, client_->HeartbeatPs(heartbeat));
    failure_told_ = reply.known() && !heartbeat.failure().empty();
    if (reply.known() && reply.chief_term() == chief_term_) return OkStatus();
    incarnation_.reset();
    return Register();
  }

 private:
  Status Register() {
    DescribeCopies(engine_, &request_);
    request_.set_chief_term_seen(chief_term_);
    control_.BeginRegistration();
    const Result<RegisterPsReply> registered = client_->RegisterPs(request_);
    if (!registered.ok()) return Refused(registered.status());
    const RegisterPsReply& reply = *registered;
    refused_ = OkStatus();
    if (!reply.refused().empty()) refusal_ = FailedPreconditionError(reply.refused());
    if (!refusal_.ok()) return OkStatus();
    if (reply.directive() == FINISH) ended_ = kExitSuccess;
    if (reply.directive() == DRAIN) ended_ = kExitDrained;
    if (reply.directive() == REPLACED) {
      LogWarning("ps",
                 "another chief has started the run over, and this ps has served the one before",
                 {{"chief_term", reply.chief_term()}, {"served", chief_term_}});
      ended_ = kExitDisrupted;
    }
    if (ended_) return OkStatus();
    incarnation_ = reply.incarnation();
    chief_term_ = reply.chief_term();
    call_key_ = reply.call_key();
    control_.Registered({chief_term_, *incarnation_, call_key_});
    LogInfo("ps", "registered",
            {{"chief_term", chief_term_},
             {"incarnation", *incarnation_},
             {"shards", request_.copies_size()}});
    return OkStatus();
  }

  Status Refused(const Status& status) {
    if (status.message() != refused_.message()) {
      LogWarning("ps", "not registered yet; trying again",
                 {{"chief", context_.chief_address}, {"error", status}});
    }
    refused_ = status;
    return status;
  }

  const RoleContext& context_;
  ShardEngine& engine_;
  PsControl& control_;
  const std::unique_ptr<ChiefCalls> client_;
  /// The last answer, when it was no yes.
  Status refused_;
  RegisterPsRequest request_;
  std::optional<Incarnation> incarnation_;
  std::uint64_t chief_term_ = 0;
  std::uint64_t call_key_ = 0;
  bool failure_told_ = false;
  std::optional<int> ended_;
  Status refusal_;
};

// Told to stop, a ps keeps serving: its shards have to move away or be in a checkpoint first, which
// the chief, who hears of it by the heartbeat, says with Release (rule 11). What remains of the
// grace period is not waited for: the exit code has to be out before the kernel's SIGKILL.
Result<int> Serve(const RoleContext& context, Registration& registration, const PsControl& control,
                  const std::function<void()>& publish) {
  const RealClock clock;
  ChiefPatience patience(context, "ps", clock);
  SteadyTime next_step = SteadyNow();
  std::optional<SteadyTime> stopping;
  while (!control.released()) {
    const SteadyTime now = SteadyNow();
    if (context.stop.stop_requested() && !stopping) {
      stopping = now;
      next_step = now;
      LogInfo("ps", "told to stop: serving until the shards are safe");
    }
    if (stopping && !registration.MayHaveShards()) return kExitDrained;
    if (stopping && now - *stopping > context.grace - kGraceReserve) return kExitDrained;
    if (now >= next_step || registration.Urgent()) {
      const Status status = registration.Step(stopping.has_value());
      PSTRAIN_RETURN_IF_ERROR(registration.refusal());
      if (registration.ended()) return *registration.ended();
      if (status.ok()) patience.Heard();
      next_step = SteadyNow() + (status.ok() ? kHeartbeat : kAwayPause);
      if (status.code() == StatusCode::kFailedPrecondition) {
        // The chief wants it no more: a successor is there, or its word that the shards are safe
        // was lost on the way.
        return stopping ? kExitDrained : kExitDisrupted;
      }
      if (!status.ok() && !PeerIsAway(status)) return status.WithContext("register with the chief");
      if (!status.ok()) PSTRAIN_RETURN_IF_ERROR(patience.Check(status));
    }
    publish();
    const auto pause = std::chrono::duration_cast<milliseconds>(next_step - SteadyNow());
    // A stop that was seen already must not make this a busy loop.
    control.WaitForRelease(std::clamp(pause, milliseconds(1), kStatsInterval),
                           stopping ? std::stop_token() : context.stop);
  }
  return *control.released() ? kExitSuccess : kExitDrained;
}

}  // namespace

Result<int> RunPs(const RoleContext& context, const PsJob& job) {
  PsStats stats(context.stats);
  RuntimeStats common(context.stats);
  ShardEngine engine(ShardEngineOptions{});
  PsDataHandler handler(engine, context.fail_points);
  RoleTransport transport(context);
  CallerVerifier* const verifier = VerifierOf(context.identity);
  Refusals refusals(context.stats);
  PsControl control({.run_id = context.run_id,
                     .run_directory = JoinPath(context.job.checkpoint_directory, context.run_id),
                     .shards = static_cast<std::uint32_t>(context.job.spec.strategy().shards()),
                     .checkpoints = {.end = context.end}},
                    engine, *transport, refusals, context.fail_points);
  const ServeOptions options{
      .limits = {.streams = MostStreams(context)},
      .message_bytes = job.message_bytes,
      .connections = MostStreams(context) + kOtherConnections,
      .on_error = [&refusals](const std::string& peer,
                              const Status& error) { refusals.CountIfRefused(peer, error); },
      .admit = AdmitStreams(verifier),
      .tls = TlsOf(context.identity)};
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<TransportServer> data_server,
                           ServeData(context, *transport, handler, options));
  PSTRAIN_ASSIGN_OR_RETURN(
      const std::unique_ptr<ControlServer> server,
      ServeControl(context, {.services = {&control},
                             .verifier = verifier,
                             .data_plane = data_server == nullptr ? &handler : nullptr,
                             .options = options}));
  Registration registration(context, engine, control,
                            data_server == nullptr ? std::string() : data_server->address());
  common.ready->Set(1);
  Result<int> outcome =
      Serve(context, registration, control, [&] { PublishStats(engine, handler, stats); });
  PublishStats(engine, handler, stats);
  context.Decided(outcome);
  server->Shutdown(milliseconds(500));
  PublishStats(engine, handler, stats);
  return outcome;
}

}  // namespace pstrain
