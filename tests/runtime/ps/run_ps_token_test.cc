// The process of a ps, against a chief of the test that asks who calls.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/manual_clock.h"
#include "base/mutex.h"
#include "proto/contract/control.pb.h"
#include "proto/contract/exit_codes.h"
#include "runtime/ps/run_ps.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/rpc/identity/key_set.h"
#include "runtime/rpc/identity/token_verifier.h"
#include "runtime/stats/token_errors.h"
#include "tests/runtime/rpc/grpc/fake_chief.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

constexpr char kSecret[] = "the secret of this run";

/// Knows each ps that comes, until Finish.
class RegisteringChief final : public FakeChief {
 public:
  explicit RegisteringChief(CallerVerifier& verifier) : FakeChief({Role::kPs}) {
    Serve("RegisterPs", {Role::kPs}, kMostBytes, &RegisteringChief::RegisterPs);
    Serve("HeartbeatPs", {Role::kPs}, kMostBytes, &RegisteringChief::HeartbeatPs);
    Start({.verifier = &verifier,
           .options = {.on_error = [this](const std::string&, const Status& error) {
             const MutexLock lock(mutex_);
             refused_ += IsPassingTokenError(kWrongTime, error) ? 1 : 0;
             changed_.NotifyAll();
           }}});
  }
  ~RegisteringChief() override { Stop(); }

  Status RegisterPs(const ControlPeer&, const RegisterPsRequest&, RegisterPsReply* reply) {
    const MutexLock lock(mutex_);
    reply->set_chief_term(1);
    reply->set_incarnation(1);
    reply->set_call_key(7);
    reply->set_directive(finished_ ? FINISH : CONTINUE);
    return OkStatus();
  }
  Status HeartbeatPs(const ControlPeer&, const HeartbeatPsRequest&, HeartbeatPsReply* reply) {
    const MutexLock lock(mutex_);
    ++heartbeats_;
    changed_.NotifyAll();
    reply->set_chief_term(1);
    reply->set_known(!finished_);
    return OkStatus();
  }

  void Finish() {
    const MutexLock lock(mutex_);
    finished_ = true;
  }
  /// So many more heartbeats that were taken, or calls that were refused for their token's time.
  bool WaitForHeartbeat() { return WaitForMore(&RegisteringChief::heartbeats_, 1); }
  bool WaitForRefused(int more) { return WaitForMore(&RegisteringChief::refused_, more); }

 private:
  bool WaitForMore(int RegisteringChief::* count, int more) {
    const SteadyTime deadline = SteadyNow() + seconds(30);
    const MutexLock lock(mutex_);
    const int enough = this->*count + more;
    while (this->*count < enough && changed_.WaitUntil(mutex_, deadline)) {
    }
    return this->*count >= enough;
  }

  Mutex mutex_;
  CondVar changed_;
  int heartbeats_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  int refused_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  bool finished_ PSTRAIN_GUARDED_BY(mutex_) = false;
};

TEST(RunPs, WhenItsTokenExpiresAndIsRenewedLater_GoesOn) {
  ManualClock of_chief(seconds(1000), 0);
  // Stands still while nothing renews tokens.
  ManualClock of_token(seconds(1000), 0);
  TokenVerifier verifier(
      {.issuer = {}, .audience = AudienceText(Audience::kChief, "uid"), .job_name = "job"},
      [keys = std::make_shared<const KeySet>(KeySet::Shared(kSecret))] { return keys; }, &of_chief);
  RegisteringChief chief(verifier);
  Identity identity;
  identity.credentials = std::make_unique<SharedKeyCredentials>(
      kSecret, "job", "uid", Caller{Role::kPs, 0, 0, 0}, &of_token);
  JobSettings job;
  job.peer_timeout = seconds(60);
  const auto stats = StatsWriter::InMemory();
  const RoleContext context{.job = job,
                            .run_id = "run",
                            .listen_address = "127.0.0.1:0",
                            .own_address = "127.0.0.1:1",
                            .chief_address = chief.address(),
                            .identity = &identity,
                            .stats = *stats,
                            .fail_points = FailPoints::None()};
  std::future<Result<int>> ps =
      std::async(std::launch::async, [&] { return RunPs(context, {.message_bytes = 1 << 20}); });
  EXPECT_TRUE(chief.WaitForHeartbeat());
  const seconds life = SharedKeyCredentials::kLifetime + TokenVerifier::kLeeway + seconds(1);
  of_chief.Advance(life);
  EXPECT_TRUE(chief.WaitForRefused(3));
  of_token.Advance(life);
  EXPECT_TRUE(chief.WaitForHeartbeat());
  chief.Finish();
  const Result<int> outcome = ps.get();
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_EQ(*outcome, kExitSuccess);
}

}  // namespace
}  // namespace pstrain
