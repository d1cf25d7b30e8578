#include "runtime/chief/peers/ps_peers.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "base/os/file_faults.h"
#include "runtime/chief/protocol/closure_source.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"
#include "tests/runtime/chief/chief_test_support.h"

namespace pstrain {
namespace {

using chief_test::FakeNetwork;
using chief_test::TakeFirst;
using std::chrono::milliseconds;
using std::chrono::seconds;

class PsPeersTest : public chief_test::ChiefPartsTest {};

TEST_F(PsPeersTest, WhenAPsStopsItsHeartbeats_IsLostAfterTheLimitAndNotBefore) {
  StartPs();
  clock_.Advance(seconds(4));
  EXPECT_TRUE(Heartbeat(1, incarnations_[1]).known());
  clock_.Advance(seconds(6));
  ps().Expire();
  EXPECT_TRUE(Heartbeat(0, incarnations_[0]).known());
  EXPECT_TRUE(protocol().PsKnown(1, incarnations_[1]));
  clock_.Advance(seconds(4));
  ps().Expire();
  EXPECT_TRUE(protocol().PsKnown(1, incarnations_[1]));
  clock_.Advance(milliseconds(1));
  ps().Expire();
  EXPECT_FALSE(protocol().PsKnown(1, incarnations_[1]));
  EXPECT_FALSE(Heartbeat(1, incarnations_[1]).known());
  EXPECT_TRUE(protocol().PsKnown(0, incarnations_[0]));
}

TEST_F(PsPeersTest, WhenAPsRegisters_IsToldTheRunAndThenGetsItsShard) {
  StartPs();
  ASSERT_EQ(network_.configures.size(), 2u);
  EXPECT_EQ(network_.configures[1].address, "ps-101");
  EXPECT_EQ(network_.configures[1].request.incarnation(), incarnations_[1]);
  EXPECT_EQ(network_.configures[1].request.run().run_id(), "run");
  EXPECT_EQ(network_.configures[1].request.epochs(), 2u);
  EXPECT_EQ(protocol().membership().shards[1].ps, 1u);
}

/// A program that adds work.
class PsPeersOfAProgramTest : public chief_test::ChiefPartsTest {
 protected:
  explicit PsPeersOfAProgramTest(
      std::shared_ptr<ClosureSource> source = std::make_shared<ClosureSource>())
      : ChiefPartsTest(source), source_(std::move(source)) {}
  void AddAChunk() {
    for (std::uint32_t i = 0; i < ClosureSource::kChunkSize; ++i) source_->Add();
  }
  /// Answers the oldest Configure.
  std::uint32_t AnswerConfigure() {
    const FakeNetwork::Configure call = TakeFirst(&network_.configures);
    call.done(OkStatus());
    return call.request.epochs();
  }

  const std::shared_ptr<ClosureSource> source_;
};

TEST_F(PsPeersOfAProgramTest, WhenWorkIsAdded_EachPsIsToldBeforeAnyOfItIsGranted) {
  ASSERT_TRUE(RegisterPs(0, 100).ok());
  EXPECT_TRUE(ps().AllInformed()) << "it owns nothing yet";
  ASSERT_TRUE(RegisterPs(1, 101).ok());
  EXPECT_EQ(AnswerConfigure(), 1u) << "of a program that has no work yet";
  EXPECT_EQ(AnswerConfigure(), 1u);
  AddAChunk();
  ps().Dispatch();
  EXPECT_TRUE(network_.configures.empty());
  EXPECT_TRUE(ps().AllInformed());
  AddAChunk();
  EXPECT_FALSE(ps().AllInformed());
  ps().Dispatch();
  ps().Dispatch();
  ASSERT_EQ(network_.configures.size(), 2u) << "each is told once";
  EXPECT_EQ(AnswerConfigure(), 2u);
  EXPECT_FALSE(ps().AllInformed());
  EXPECT_EQ(AnswerConfigure(), 2u);
  EXPECT_TRUE(ps().AllInformed());
}

TEST_F(PsPeersOfAProgramTest, WhenVariablesAreDeclared_EachPsIsToldBeforeAnythingIsGranted) {
  ASSERT_TRUE(RegisterPs(0, 100).ok());
  AnswerConfigure();
  ASSERT_TRUE(ps().AllInformed());
  run_.add_variables()->set_name("late");
  run_.set_generation(1);
  EXPECT_FALSE(ps().AllInformed());
  ps().Dispatch();
  ps().Dispatch();
  ASSERT_EQ(network_.configures.size(), 1u) << "it is told once";
  EXPECT_EQ(network_.configures[0].request.run().variables(0).name(), "late");
  EXPECT_EQ(network_.configures[0].request.run().generation(), 1u);
  // What comes while it is told is told again.
  run_.set_generation(2);
  ps().Dispatch();
  AnswerConfigure();
  EXPECT_FALSE(ps().AllInformed());
  AnswerConfigure();
  EXPECT_TRUE(ps().AllInformed());
  // One that comes now has all of it from the start.
  ASSERT_TRUE(RegisterPs(1, 101).ok());
  EXPECT_EQ(network_.configures[0].request.run().generation(), 2u);
}

TEST_F(PsPeersOfAProgramTest, WhenAPsDoesNotConfirmTheWork_IsNamedAndTheJobFailsInTime) {
  ASSERT_TRUE(RegisterPs(0, 100).ok());
  ASSERT_TRUE(RegisterPs(1, 101).ok());
  AnswerConfigure();
  AnswerConfigure();
  ps().WatchInformed();
  EXPECT_EQ(chief_stats_.epochs_wait->Value(), 0);
  AddAChunk();
  AddAChunk();
  ps().Dispatch();
  AnswerConfigure();
  settings_.fields.peer_timeout = "spec.program.peerTimeoutSeconds";
  testing::internal::CaptureStderr();
  clock_.Advance(seconds(400));
  ps().WatchInformed();
  ps().WatchInformed();
  const std::string log = testing::internal::GetCapturedStderr();
  const std::string_view line = "a ps does not confirm the number of epochs";
  EXPECT_NE(log.find(line), std::string::npos) << log;
  EXPECT_EQ(log.find(line), log.rfind(line)) << log;
  EXPECT_NE(log.find("chief -> ps 1"), std::string::npos) << log;
  EXPECT_EQ(chief_stats_.epochs_wait->Value(), 400);
  EXPECT_TRUE(failures_.empty());
  clock_.Advance(seconds(1));
  ps().WatchInformed();
  ASSERT_EQ(failures_.size(), 1u);
  EXPECT_EQ(failures_[0].code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(failures_[0].message().find("ps 1 has not confirmed for 401 s that the job has 2"), 0u)
      << failures_[0].message();
  const std::string field = ", or raise spec.program.peerTimeoutSeconds";
  EXPECT_EQ(failures_[0].message().find(field), failures_[0].message().size() - field.size())
      << failures_[0].message();
}

TEST_F(PsPeersOfAProgramTest, WhenAPsConfirmsTheWorkOrTheChiefStoodStill_TheJobGoesOn) {
  ASSERT_TRUE(RegisterPs(0, 100).ok());
  AnswerConfigure();
  AddAChunk();
  AddAChunk();
  ps().Dispatch();
  clock_.Advance(seconds(500));
  ps().ForgiveGap(seconds(300));
  ps().WatchInformed();
  EXPECT_EQ(chief_stats_.epochs_wait->Value(), 200);
  AnswerConfigure();
  ps().WatchInformed();
  EXPECT_EQ(chief_stats_.epochs_wait->Value(), 0);
  // The next number has all the time again.
  AddAChunk();
  ps().Dispatch();
  clock_.Advance(seconds(399));
  ps().WatchInformed();
  EXPECT_EQ(chief_stats_.epochs_wait->Value(), 399);
  EXPECT_TRUE(failures_.empty());
}

TEST_F(PsPeersOfAProgramTest, WhenAPsIsLostThatDoesNotKnowOfTheWork_NobodyWaitsForIt) {
  const Result<RegisterPsReply> registered = RegisterPs(0, 100);
  ASSERT_TRUE(registered.ok());
  AnswerConfigure();
  AddAChunk();
  AddAChunk();
  EXPECT_FALSE(ps().AllInformed());
  protocol().PsLost(0, registered->incarnation());
  ps().Dispatch();
  EXPECT_TRUE(network_.configures.empty());
  EXPECT_TRUE(ps().AllInformed());
}

TEST_F(PsPeersTest, WhenTheDataPlaneHasItsOwnAddress_WorkersAreToldThatOne) {
  RegisterPsRequest request;
  request.set_process(100);
  request.set_address("ps-100:2222");
  request.set_data_address("grpc://10.0.0.7:4000");
  ASSERT_TRUE(ps().Register(request, {}).ok());
  ASSERT_EQ(network_.configures.size(), 1u);
  EXPECT_EQ(network_.configures[0].address, "ps-100:2222");
  ASSERT_EQ(protocol().membership().ps.size(), 1u);
  EXPECT_EQ(protocol().membership().ps[0].address, "grpc://10.0.0.7:4000");
}

TEST_F(PsPeersTest, WhenAPsRefusesTheRun_TheJobFailsAndNamesIt) {
  StartPs();
  network_.configures[0].done(OkStatus());
  EXPECT_TRUE(failures_.empty());
  network_.configures[1].done(InvalidArgumentError("no"));
  ASSERT_EQ(failures_.size(), 1u);
  EXPECT_NE(failures_[0].message().find("configure ps 1"), std::string::npos);
}

// A registration that came late: the ps knows itself by another one.
TEST_F(PsPeersTest, WhenAPsIsNotTheOneThatHasRegistered_RegistersAgainAndTheJobGoesOn) {
  StartPs();
  network_.configures[1].done(FailedPreconditionError("not the incarnation of this ps"));
  EXPECT_TRUE(failures_.empty());
  EXPECT_FALSE(Heartbeat(1, incarnations_[1]).known());
  EXPECT_TRUE(Heartbeat(0, incarnations_[0]).known());
  const Result<RegisterPsReply> again = RegisterPs(1, 101);
  ASSERT_TRUE(again.ok());
  AnswerAssigns();
  EXPECT_TRUE(protocol().AllActive());
  // What its former life answers now is nobody's matter.
  network_.configures[1].done(FailedPreconditionError("late"));
  network_.configures[1].done(InvalidArgumentError("late"));
  EXPECT_TRUE(failures_.empty());
  EXPECT_TRUE(Heartbeat(1, again->incarnation()).known());
}

// Its shard has nothing applied, as there is no checkpoint: what was committed is computed again.
TEST_F(PsPeersTest, WhenAPsIsLost_TheBatchesThatItCostAreCounted) {
  StartPs();
  Commit(3);
  EXPECT_EQ(protocol().Progress().work_ids_reopened, 0u);
  ASSERT_TRUE(RegisterPs(1, 201, 1).ok());
  AnswerAssigns();
  EXPECT_EQ(protocol().Progress().work_ids_reopened, 3u);
}

TEST_F(PsPeersTest, WhenAPsServesAnotherChiefOfTheSameTerm_ThisOneIsSuperseded) {
  StartPs();
  EXPECT_NE(network_.configures[0].request.chief_id(), 0u);
  EXPECT_EQ(network_.configures[0].request.chief_id(), setup_->directory.term().id);
  network_.configures[0].done(OkStatus());
  EXPECT_FALSE(ps().superseded());
  network_.configures[1].done(AbortedError("another"));
  EXPECT_TRUE(ps().superseded());
  EXPECT_TRUE(failures_.empty());
}

TEST_F(PsPeersTest, WhenTheSameProcessRegistersAgain_KeepsItsLink) {
  StartPs();
  EXPECT_EQ(RegisterPs(0, 100)->incarnation(), incarnations_[0]);
  EXPECT_EQ(network_.configures.size(), 2u);
  EXPECT_TRUE(ps().TakeRetired().empty());
}

TEST_F(PsPeersTest, WhenTheRunStartsOver_APsThatHasServedAnotherChiefIsToldToEnd) {
  RegisterPsRequest request;
  request.set_address("ps-100");
  request.set_process(100);
  request.set_chief_term_seen(chief().chief_term() + 1);
  ASSERT_TRUE(ps().Register(request, {}).ok());
  EXPECT_EQ(network_.configures.size(), 1u) << "of a run that goes on it is welcome";
  setup_->job.starts_over = true;
  const auto expect_replaced = [&] {
    const Result<RegisterPsReply> reply = ps().Register(request, {});
    ASSERT_TRUE(reply.ok()) << reply.status().ToString();
    EXPECT_EQ(reply->directive(), REPLACED);
    EXPECT_EQ(reply->incarnation(), 0u);
  };
  expect_replaced();
  request.set_chief_term_seen(0);
  request.add_copies()->mutable_term()->set_chief_term(chief().chief_term() + 1);
  expect_replaced();
  request.clear_copies();
  request.set_chief_term_seen(chief().chief_term());
  EXPECT_GT(ps().Register(request, {})->incarnation(), 0u);
}

TEST_F(PsPeersTest, WhenAPsIsReplaced_ItsFormerLifeChangesNothing) {
  StartPs();
  ps().ReleaseAll(true);
  EXPECT_NE(RegisterPs(0, 200, 1)->incarnation(), incarnations_[0]);
  EXPECT_EQ(network_.cancelled, (std::vector<std::string>{"ps-100"}));
  EXPECT_EQ(ps().TakeRetired().size(), 1u);
  EXPECT_EQ(chief_stats_.ps_recoveries->Value(), 1u);
  TakeFirst(&network_.releases).done(OkStatus());
  TakeFirst(&network_.releases).done(OkStatus());
  EXPECT_FALSE(ps().AllReleased());
  WriteCheckpointShardsRequest request;
  request.set_incarnation(incarnations_[0]);
  EXPECT_FALSE(ps().WriteCheckpointShards(0, request, [](const auto&) {}));
  EXPECT_TRUE(network_.writes.empty());
}

TEST_F(PsPeersTest, WhenAnOlderAttemptRegisters_IsRefused) {
  StartPs();
  ASSERT_TRUE(RegisterPs(0, 200, 1).ok());
  EXPECT_EQ(RegisterPs(0, 100, 0).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(PsPeersTest, WhenAnAttemptCannotBeTrueYet_TheTruePsIsNotLockedOut) {
  StartPs();
  EXPECT_EQ(RegisterPs(0, 666, 4'294'967'295).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(Refused(RefusalReason::kOutOfRange), 1u);
  EXPECT_EQ(RegisterPs(0, 100, 0)->incarnation(), incarnations_[0]);
  EXPECT_TRUE(RegisterPs(0, 200, kAttemptsAhead).ok());
}

TEST_F(PsPeersTest, WhenTheRunIsOld_AHighAttemptIsTrue) {
  setup_->run_age = seconds(10'000);
  PsPeers peers(chief(), network_.Connect(), [](const Status&) {});
  RegisterPsRequest request;
  request.set_attempt(10'000);
  EXPECT_TRUE(peers.Register(request, {}).ok());
}

TEST_F(PsPeersTest, EachLifeOfAPs_HasAKeyOfItsOwnThatAllCallsName) {
  StartPs();
  const std::uint64_t key = call_keys_[incarnations_[0]];
  EXPECT_NE(key, call_keys_[incarnations_[1]]);
  EXPECT_EQ(network_.configures[0].request.call_key(), key);
  ps().ReleaseAll(true);
  EXPECT_EQ(network_.releases[0].request.call_key(), key);
  EXPECT_EQ(RegisterPs(0, 100)->call_key(), key);
  EXPECT_NE(RegisterPs(0, 200, 1)->call_key(), key);
}

TEST_F(PsPeersTest, WhenAHeartbeatHasAnotherKey_IsNotKnownAndTheShardsStay) {
  StartPs();
  call_keys_[incarnations_[0]] ^= 1;
  EXPECT_FALSE(Heartbeat(0, incarnations_[0], /*leaving=*/true).known());
  AnswerAssigns();
  EXPECT_EQ(protocol().membership().shards[0].ps, 0u);
}

TEST_F(PsPeersTest, WhenAnAssignmentFails_TheShardIsAssignedAgainUnderANewTerm) {
  ASSERT_TRUE(RegisterPs(0, 100).ok());
  ASSERT_TRUE(RegisterPs(1, 101).ok());
  ASSERT_EQ(network_.assigns.size(), 2u);
  const FakeNetwork::Assign failed = TakeFirst(&network_.assigns);
  failed.done(InternalError("no memory"), {});
  ASSERT_EQ(network_.assigns.size(), 2u);
  const FakeNetwork::Assign& again = network_.assigns.back();
  EXPECT_EQ(again.address, failed.address);
  EXPECT_EQ(again.request.shards(0).shard(), failed.request.shards(0).shard());
  EXPECT_GT(again.request.shards(0).term().counter(), failed.request.shards(0).term().counter());
  AnswerAssigns();
  EXPECT_TRUE(protocol().AllActive());
}

class PsPeersLinkTest : public PsPeersTest {
 protected:
  /// Time passes, the ps are heard, and calls to ps 1 have failed since `failing_since`.
  void Pass(std::chrono::nanoseconds time, Incarnation second) {
    for (std::chrono::nanoseconds passed{0}; passed < time; passed += milliseconds(500)) {
      clock_.Advance(milliseconds(500));
      Heartbeat(0, incarnations_[0]);
      Heartbeat(1, second);
      ps().Expire();
      ps().Dispatch();
    }
  }
  void Break() {
    network_.health["ps-101"] = {.failing_since = clock_.Now(),
                                 .last_answer = clock_.Now(),
                                 .error = UnavailableError("no route")};
  }
};

TEST_F(PsPeersLinkTest, WhenCallsDoNotReachAPsThatIsHeard_IsLostAndTheLinkIsNamed) {
  StartPs();
  network_.health["ps-100"].last_answer = clock_.Now() + seconds(19);
  Break();
  Pass(seconds(20), incarnations_[1]);
  EXPECT_TRUE(protocol().PsKnown(1, incarnations_[1]));
  EXPECT_EQ(chief_stats_.ps_link_age->Value(), 20);
  Pass(milliseconds(500), incarnations_[1]);
  EXPECT_FALSE(protocol().PsKnown(1, incarnations_[1]));
  EXPECT_TRUE(protocol().PsKnown(0, incarnations_[0]));
  EXPECT_FALSE(Heartbeat(1, incarnations_[1]).known());
  // The same process comes back; its shard waits for the link, and nobody is lost again.
  const Incarnation again = RegisterPs(1, 101)->incarnation();
  EXPECT_NE(again, incarnations_[1]);
  EXPECT_NE(ps().problem().find("chief -> ps 1: no call has reached it for 20 s, UNAVAILABLE: no "
                                "route"),
            std::string::npos)
      << ps().problem();
  Pass(seconds(60), again);
  EXPECT_TRUE(protocol().PsKnown(1, again));
  EXPECT_FALSE(protocol().AllActive());
  network_.health.erase("ps-101");
  AnswerAssigns();
  EXPECT_TRUE(protocol().AllActive());
  EXPECT_EQ(ps().problem(), "");
}

TEST_F(PsPeersLinkTest, WhenAPsRefusesTheChiefsCalls_IsLostAndThatIsSaid) {
  StartPs();
  network_.health["ps-101"] = {.failing_since = clock_.Now(),
                               .last_answer = clock_.Now(),
                               .error = Status(StatusCode::kUnauthenticated, "expired")};
  Pass(seconds(21), incarnations_[1]);
  EXPECT_FALSE(protocol().PsKnown(1, incarnations_[1]));
  EXPECT_TRUE(RegisterPs(1, 101).ok());
  EXPECT_NE(ps().problem().find("chief -> ps 1: it has refused the chief's calls for 21 s, "
                                "UNAUTHENTICATED: expired"),
            std::string::npos)
      << ps().problem();
}

TEST_F(PsPeersLinkTest, WhenTheLinkIsDownForAMoment_NobodyIsLost) {
  StartPs();
  for (int i = 0; i < 5; ++i) {
    Break();
    Pass(seconds(15), incarnations_[1]);
    network_.health.erase("ps-101");
    Pass(seconds(1), incarnations_[1]);
  }
  EXPECT_TRUE(protocol().PsKnown(1, incarnations_[1]));
}

TEST_F(PsPeersLinkTest, WhenHeartbeatsAreLostThoughCallsWork_TheLinkIsNamed) {
  StartPs();
  clock_.Advance(seconds(5));
  Heartbeat(0, incarnations_[0]);
  clock_.Advance(seconds(6));
  ps().Expire();
  EXPECT_FALSE(protocol().PsKnown(1, incarnations_[1]));
  EXPECT_EQ(ps().problem(), "ps 1 -> chief: nothing heard for 11 s");
}

TEST_F(PsPeersLinkTest, WhenTheChiefStoodStill_NobodyIsLostForThat) {
  StartPs();
  Break();
  clock_.Advance(seconds(60));
  ps().ForgiveGap(seconds(60));
  ps().Expire();
  EXPECT_TRUE(protocol().PsKnown(0, incarnations_[0]));
  EXPECT_TRUE(protocol().PsKnown(1, incarnations_[1]));
  clock_.Advance(seconds(10) + milliseconds(1));
  ps().Expire();
  EXPECT_FALSE(protocol().PsKnown(0, incarnations_[0]));
}

// Both ps are there; the shards of ps 0 are to be restored from checkpoint 1-2.
class PsPeersRestoreTest : public PsPeersTest {
 protected:
  void SetUp() override {
    ProtocolOptions options = protocol_test::Options();
    options.started = clock_.Now();
    options.checkpoints = {"1-2", "1-1"};
    protocol_.emplace(std::move(options));
    ps_.emplace(chief(), network_.Connect(),
                [this](const Status& status) { failures_.push_back(status); });
    ASSERT_TRUE(RegisterPs(0, 100).ok());
    ASSERT_TRUE(RegisterPs(1, 101).ok());
  }
  void FailFirst(const Status& status) { TakeFirst(&network_.assigns).done(status, {}); }
};

TEST_F(PsPeersRestoreTest, WhenThePsDiskFails_TheSameCheckpointIsTriedAgainAfterGrowingPauses) {
  Answer(TakeFirst(&network_.assigns));  // ps 0
  FailFirst(InternalError("read 1-2/shard-1: Input/output error"));
  // The first time immediately, then after pauses.
  for (const int pause_ms : {0, 100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000}) {
    if (pause_ms > 0) {
      clock_.Advance(milliseconds(pause_ms) - milliseconds(1));
      ps().Retry();
      ps().Dispatch();
      ASSERT_TRUE(network_.assigns.empty()) << pause_ms;
      clock_.Advance(milliseconds(1));
    }
    ps().Retry();
    ps().Dispatch();
    ASSERT_EQ(network_.assigns.size(), 1u) << pause_ms;
    EXPECT_EQ(network_.assigns[0].request.checkpoint(), "1-2");
    EXPECT_NE(ps().problem().find("ps 1: read 1-2/shard-1: Input/output error"), std::string::npos);
    FailFirst(InternalError("read 1-2/shard-1: Input/output error"));
  }
  EXPECT_TRUE(failures_.empty());
  clock_.Advance(seconds(10));
  ps().Retry();
  ps().Dispatch();
  AnswerAssigns();
  EXPECT_EQ(ps().problem(), "");
  EXPECT_EQ(protocol().membership().shards[1].active, true);
}

// The ps' memory may be what is wrong, or its node's view of the files.
TEST_F(PsPeersRestoreTest, WhenAPsAloneFindsDamage_TheCheckpointStays) {
  const std::string checkpoint =
      checkpoint_test::WriteCheckpoint(setup_->directory.path(), {1, 2}, 2);
  Answer(TakeFirst(&network_.assigns));  // ps 0
  FailFirst(DataLossError("corrupt"));
  ASSERT_EQ(network_.assigns.size(), 1u);
  EXPECT_EQ(network_.assigns[0].request.checkpoint(), "1-2");
  EXPECT_EQ(ps().problem(), "ps 1: corrupt");
  {
    // What the chief cannot read either is not proven to be damaged.
    const ScopedFileFaults faults([](std::string_view call, const std::string& path) {
      return call == "read" && path.ends_with("shard-1") ? EIO : 0;
    });
    FailFirst(DataLossError("corrupt"));
  }
  EXPECT_TRUE(network_.assigns.empty());
  clock_.Advance(milliseconds(100));
  ps().Retry();
  ps().Dispatch();
  ASSERT_EQ(network_.assigns.size(), 1u);
  EXPECT_EQ(network_.assigns[0].request.checkpoint(), "1-2");
  ASSERT_TRUE(WriteFileSynced(JoinPath(checkpoint, "shard-1"), "junk").ok());
  FailFirst(DataLossError("corrupt"));
  ASSERT_EQ(network_.assigns.size(), 1u);
  EXPECT_EQ(network_.assigns[0].request.checkpoint(), "1-1");
}

TEST_F(PsPeersRestoreTest, WhileTheChiefLooksAtTheCheckpoint_NothingIsAssigned) {
  Answer(TakeFirst(&network_.assigns));  // ps 0
  disk_.Pause();
  FailFirst(DataLossError("corrupt"));
  EXPECT_TRUE(network_.assigns.empty());
  disk_.Release();
  ASSERT_EQ(network_.assigns.size(), 1u);
  EXPECT_EQ(network_.assigns[0].request.checkpoint(), "1-1");
}

TEST_F(PsPeersRestoreTest, WhenAPsThatIsHeardDoesNotAnswer_IsNamed) {
  Answer(TakeFirst(&network_.assigns));  // ps 0
  clock_.Advance(seconds(10));
  EXPECT_EQ(ps().problem(), "");
  clock_.Advance(seconds(1));
  EXPECT_EQ(ps().problem(),
            "ps 1 has not answered for 11 s that it has 1 shard from checkpoint 1-2");
  // It is not assigned to anybody else: ps 1 may need the time.
  clock_.Advance(seconds(300));
  ps().Retry();
  ps().Dispatch();
  ASSERT_EQ(network_.assigns.size(), 1u);
  Answer(TakeFirst(&network_.assigns));
  EXPECT_EQ(ps().problem(), "");
  EXPECT_TRUE(protocol().AllActive());
}

/// ps 1 leaves, and its shard is to move to ps 0.
class PsPeersMoveTest : public PsPeersTest {
 protected:
  void SetUp() override {
    StartPs();
    Heartbeat(1, incarnations_[1], true);
    ASSERT_EQ(network_.assigns.size(), 1u);
    ASSERT_EQ(network_.assigns[0].address, "ps-100");
  }
  void Pass(std::chrono::nanoseconds time) {
    clock_.Advance(time);
    protocol().Tick(clock_.Now());
    ps().Retry();
    ps().Dispatch();
  }
  /// ps 0 does not answer for longer than that; then its source has the shard again.
  void ExpectGivenUpAfter(std::chrono::seconds limit) {
    Pass(limit);
    EXPECT_FALSE(protocol().AllActive());
    Pass(milliseconds(1));
    ASSERT_EQ(network_.assigns.size(), 2u);
    EXPECT_EQ(network_.assigns[1].address, "ps-101");
    Answer(network_.assigns[1]);
    network_.assigns.pop_back();
    EXPECT_TRUE(protocol().AllActive());
    EXPECT_EQ(protocol().membership().shards[1].ps, 1u);
  }
};

// A quarter of spec.training.peerTimeoutSeconds, which is 400 here.
TEST_F(PsPeersMoveTest, WhenATargetDoesNotAnswer_TheSourceServesAgainAndTheMoveIsTriedLater) {
  ExpectGivenUpAfter(seconds(100));
  const FakeNetwork::Assign late = TakeFirst(&network_.assigns);
  EXPECT_EQ(ps().problem(), "");
  // After the protocol's pause the shard moves; now ps 0 gets more time, as it may only be large.
  Pass(milliseconds(0));
  Pass(seconds(1));
  ASSERT_EQ(network_.assigns.size(), 1u);
  ASSERT_EQ(network_.assigns[0].address, "ps-100");
  ExpectGivenUpAfter(seconds(200));
  // The answers of before change nothing any more.
  Answer(late);
  late.done(AbortedError("late"), {});
  EXPECT_TRUE(protocol().AllActive());
  EXPECT_EQ(protocol().membership().shards[1].ps, 1u);
  EXPECT_EQ(ps().problem(), "");
  EXPECT_TRUE(failures_.empty());
}

TEST_F(PsPeersMoveTest, WhileAMoveIsNotAnswered_TheTargetAndTheSourceAreNamed) {
  Pass(seconds(60));
  EXPECT_EQ(ps().problem(),
            "ps 0 has not answered for 60 s that it has 1 shard from the ps at ps-101");
}

TEST_F(PsPeersMoveTest, WhenTheChiefStoodStill_TheMoveIsNotGivenUpForThat) {
  clock_.Advance(seconds(200));
  ps().ForgiveGap(seconds(200));
  Pass(seconds(100));
  EXPECT_EQ(network_.assigns.size(), 1u);
  ExpectGivenUpAfter(seconds(0));
}

TEST_F(PsPeersRestoreTest, WhenDamageIsProven_TheCheckpointBeforeIsTakenImmediately) {
  TakeFirst(&network_.assigns);
  FailFirst(DataLossError("corrupt"));
  ASSERT_EQ(network_.assigns.size(), 1u);
  EXPECT_EQ(network_.assigns[0].request.checkpoint(), "1-1");
}

TEST_F(PsPeersTest, WhenAllHaveAnsweredOrAreGone_AllAreReleased) {
  StartPs();
  EXPECT_FALSE(ps().AllReleased());
  ps().ReleaseAll(true);
  EXPECT_TRUE(network_.releases[0].request.finished());
  TakeFirst(&network_.releases).done(OkStatus());
  EXPECT_FALSE(ps().AllReleased());
  TakeFirst(&network_.releases).done(UnavailableError("gone"));
  EXPECT_TRUE(ps().AllReleased());
}

TEST_F(PsPeersTest, WhenALeavingPsIsEmptied_IsReleasedUnfinished) {
  StartPs();
  EXPECT_TRUE(Heartbeat(0, incarnations_[0], true).known());
  AnswerAssigns();
  ASSERT_EQ(network_.releases.size(), 1u);
  EXPECT_EQ(network_.releases[0].address, "ps-100");
  EXPECT_FALSE(network_.releases[0].request.finished());
}

TEST_F(PsPeersTest, WhenAPsIsNotWantedYet_MayTryAgainWhereTheNumberOfPsCanChange) {
  StartPs();
  EXPECT_EQ(RegisterPs(2, 102).status().code(), StatusCode::kInvalidArgument);
  context_.ps_replicas_file = "somewhere";
  EXPECT_EQ(RegisterPs(2, 102).status().code(), StatusCode::kUnavailable);
  protocol().SetPsCount(3, {0, 2});
  EXPECT_EQ(ps().Missing(), (std::vector<std::uint32_t>{2}));
  ASSERT_TRUE(RegisterPs(2, 102).ok());
  EXPECT_TRUE(ps().Missing().empty());
  AnswerAssigns();
  EXPECT_EQ(protocol().membership().shards[1].ps, 2u);
}

TEST_F(PsPeersTest, WhenASurplusPsIsReleasedOrGone_IsForgotten) {
  StartPs();
  protocol().SetPsCount(1, {0, 0});
  ps().Dispatch();
  AnswerAssigns();
  EXPECT_TRUE(Heartbeat(1, incarnations_[1], true).known());
  ps().Expire();
  EXPECT_TRUE(ps().TakeRetired().empty()) << "its release is under way";
  ASSERT_EQ(network_.releases.size(), 1u);
  TakeFirst(&network_.releases).done(OkStatus());
  ps().Expire();
  EXPECT_EQ(ps().TakeRetired().size(), 1u);
  EXPECT_EQ(network_.cancelled, (std::vector<std::string>{"ps-101"}));
  // Its next life, should it be wanted again, replaces nobody.
  protocol().SetPsCount(2, {0, 1});
  ASSERT_TRUE(RegisterPs(1, 201, 1).ok());
  EXPECT_EQ(chief_stats_.ps_recoveries->Value(), 0u);
}

TEST_F(PsPeersTest, WhenPsDidNotCome_NamesThem) {
  ASSERT_TRUE(RegisterPs(0, 100).ok());
  EXPECT_EQ(ps().Missing(), (std::vector<std::uint32_t>{1}));
  ASSERT_TRUE(RegisterPs(1, 101).ok());
  EXPECT_TRUE(ps().Missing().empty());
}

}  // namespace
}  // namespace pstrain
