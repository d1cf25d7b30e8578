#include "runtime/evaluator/run_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/os/files.h"
#include "proto/contract/control.pb.h"
#include "proto/job/job_manifest.h"
#include "runtime/stats/role_stats.h"
#include "tests/runtime/rpc/grpc/fake_chief.h"

namespace pstrain {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

/// A chief that answers every poll with one error.
class RefusingChief final : public FakeChief {
 public:
  explicit RefusingChief(Status answer) : answer_(std::move(answer)) {
    Serve("PollEvaluator", {}, kMostBytes, &RefusingChief::Poll);
    Start();
  }
  ~RefusingChief() override { Stop(); }

  Status Poll(const ControlPeer&, const PollEvaluatorRequest&, PollEvaluatorReply*) {
    return answer_;
  }

 private:
  const Status answer_;
};

class RunEvaluatorTest : public testing::Test {
 protected:
  Result<int> RunWith(const std::string& chief_address, seconds patience) {
    EXPECT_TRUE(WriteFileAtomically(dir_.File("data.csv"), "0,1\n1,2\n").ok());
    const std::string csv = "{csv: {files: [" + dir_.File("data.csv") +
                            "], columns: [label, key], labelColumn: label}}";
    const Result<PSTrainingJob> job = ReadJobManifest(
        "apiVersion: pstrain.dev/v1alpha1\nkind: PSTrainingJob\nmetadata: {name: j}\nspec: "
        "{replicaSpecs: {ps: {replicas: 1}, worker: {replicas: 1}, evaluator: {replicas: 1}}, "
        "training: {model: {constantGradient: {denseSize: 4, tableRows: 4}}, input: " +
            csv + ", optimizer: {sgd: {learningRate: 0.5}}, batchSize: 1, evaluation: {input: " +
            csv + "}, checkpoint: {directory: " + dir_.path() + "}}}\n",
        {.allow_test_only = true});
    EXPECT_TRUE(job.ok()) << job.status().ToString();
    if (!job.ok()) return job.status();
    settings_ = {
        .spec = job->spec(), .checkpoint_directory = dir_.path(), .peer_timeout = patience};
    const RoleContext context{.job = settings_,
                              .run_id = "run",
                              .chief_address = chief_address,
                              .scratch = dir_.path(),
                              .stats = *stats_,
                              .fail_points = FailPoints::None()};
    return RunEvaluator(context, job->spec().training());
  }

  const TempDir dir_;
  JobSettings settings_;
  const std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
};

// Its word is not that it is away: asking again would not change it.
TEST_F(RunEvaluatorTest, WhenTheChiefRefusesThePoll_EndsWithWhatTheChiefSays) {
  const RefusingChief chief(PermissionDeniedError("attempt 0 has a successor"));
  const Result<int> end = RunWith(chief.address(), seconds(3600));
  EXPECT_EQ(end.status(), PermissionDeniedError("poll the chief: attempt 0 has a successor"));
}

TEST_F(RunEvaluatorTest, WhenTheChiefIsAway_EndsWithTheLastErrorAndShowsForHowLong) {
  const Result<int> end = RunWith(
      RefusingChief(UnavailableError("this chief is being replaced")).address(), seconds(1));
  EXPECT_EQ(end.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(end.status().message(), HasSubstr("; last error: UNAVAILABLE: "));
  EXPECT_GT(PeerStats(*stats_).chief_silence->Value(), 1);
}

}  // namespace
}  // namespace pstrain
