#include "runtime/ps/run_ps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "proto/contract/control.pb.h"
#include "runtime/stats/role_stats.h"
#include "tests/runtime/rpc/grpc/fake_chief.h"

namespace pstrain {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

/// A chief that registers a ps and cannot be reached by its heartbeats.
class HalfDeafChief final : public FakeChief {
 public:
  HalfDeafChief() {
    Serve("RegisterPs", {}, kMostBytes, &HalfDeafChief::Register);
    Serve("HeartbeatPs", {}, kMostBytes, &HalfDeafChief::Heartbeat);
    Start();
  }

  Status Register(const ControlPeer&, const RegisterPsRequest&, RegisterPsReply* reply) {
    reply->set_chief_term(1);
    reply->set_incarnation(1);
    reply->set_directive(CONTINUE);
    return OkStatus();
  }
  Status Heartbeat(const ControlPeer&, const HeartbeatPsRequest&, HeartbeatPsReply*) {
    return UnavailableError("the way here is cut");
  }
};

TEST(RunPs, WhenHeartbeatsDoNotReachTheChief_EndsWithTheLastErrorAndShowsForHowLong) {
  const HalfDeafChief chief;
  JobSettings job;
  job.peer_timeout = seconds(2);
  const std::unique_ptr<StatsWriter> stats = StatsWriter::InMemory();
  const RoleContext context{.job = job,
                            .run_id = "run",
                            .listen_address = "127.0.0.1:0",
                            .own_address = "127.0.0.1:1",
                            .chief_address = chief.address(),
                            .stats = *stats,
                            .fail_points = FailPoints::None()};
  const Result<int> end = RunPs(context, {.message_bytes = 1 << 20});
  EXPECT_EQ(end.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(end.status().message(), HasSubstr("; last error: UNAVAILABLE: the way here is cut"));
  EXPECT_GT(PeerStats(*stats).chief_silence->Value(), 2);
}

}  // namespace
}  // namespace pstrain
