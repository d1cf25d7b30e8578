// Replicas that know each other: which pods get tokens, and the ConfigMap with the keys.
#include "operator/job/act/peer_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "operator/job/build/identity_volume.h"
#include "operator/job/observe/pod_view.h"
#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"
#include "operator/plan/timestamp.h"
#include "tests/operator/job/reconciler_fixture.h"

namespace pstrain::job {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kWorker[] = "byo-worker-0";
constexpr char kPostMaps[] = "POST /api/v1/namespaces/ml/configmaps";

class PeerIdentityTest : public ::testing::Test {
 protected:
  const kube::ObjectKey keys_{.name_space = "ml", .name = std::string(kIssuerKeysConfigMap)};

  void PutTraining() {
    fixture_.PutJob(Train);
    fixture_.Settle();
  }
  void StartTraining() {
    fixture_.StartJob(Train);
    ASSERT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Running) << fixture_.MessageOf("Accepted");
  }
  bool Identified(const std::string& pod) const {
    const auto view = DecodePod(fixture_.Pod(pod));
    EXPECT_TRUE(view.ok());
    return view.ok() && view->identified;
  }
  std::optional<Json> Keys() { return fixture_.server().Find(kube::ConfigMapResource(), keys_); }
  std::string Data(std::string_view key) {
    const std::optional<Json> keys = Keys();
    return keys ? kube::TextOrEmpty(keys->Find("data"), key) : "absent";
  }
  void Forbid(int times) {
    fixture_.server().FailNext("GET /.well-known",
                               {403, testing::StatusBody(403, "Forbidden", "no rule"), {}}, times);
  }
  void SetSuspend(bool suspend) {
    fixture_.EditJob([suspend](Json& job) {
      At(job, {"spec", "runPolicy"}).Set("suspend", Json::Bool(suspend));
    });
    fixture_.Settle();
  }

  ReconcilerFixture fixture_;
};

TEST_F(PeerIdentityTest, WhereKeysArePublished_EveryPodHasTokensAndTheKeysAreThereBeforeIt) {
  fixture_.PublishKeys("a");
  StartTraining();
  for (const std::string& pod : fixture_.PodNames()) EXPECT_TRUE(Identified(pod)) << pod;
  EXPECT_EQ(Data("issuer"), "https://issuer");
  EXPECT_EQ(Data("jwks.json"), R"({"keys":[{"kid":"a"}]})");
  EXPECT_EQ(Keys()->Find("metadata")->Find("ownerReferences"), nullptr);
  EXPECT_EQ(fixture_.ConditionOf(kPeersNotVerified), "");
  const auto requests = fixture_.server().requests();
  const auto begins = [&](const std::string& begin, std::size_t times) {
    std::size_t at = 0;
    for (; at < requests.size() && times > 0; ++at)
      times -= requests[at].starts_with(begin) ? std::size_t{1} : 0;
    return at;
  };
  // The trial of a template comes before anything is made.
  EXPECT_LT(begins(kPostMaps, 2), begins("POST /api/v1/namespaces/ml/pods?fieldValidation", 1));
}

TEST_F(PeerIdentityTest, OfAJobThatRunsItsOwnProgram_NothingIsAskedOrMade) {
  fixture_.PublishKeys("a");
  fixture_.StartJob();
  EXPECT_FALSE(Identified(kWorker));
  EXPECT_EQ(Keys(), std::nullopt);
  EXPECT_EQ(fixture_.CallsOf("/openid"), 0);
  EXPECT_EQ(fixture_.ConditionOf(kPeersNotVerified), "");
}

TEST_F(PeerIdentityTest, KeysAreReadEachFiveMinutesAndWrittenOnlyWhenTheyHaveChanged) {
  fixture_.PublishKeys("a");
  StartTraining();
  const int posts = fixture_.CallsOf(kPostMaps);
  const int reads = fixture_.CallsOf("/openid/v1");
  fixture_.RunFor(seconds(1000));
  EXPECT_EQ(fixture_.CallsOf("/openid/v1"), reads + 3);
  EXPECT_EQ(fixture_.CallsOf(kPostMaps), posts);
  fixture_.PublishKeys("b");
  fixture_.RunFor(seconds(300));
  EXPECT_EQ(Data("jwks.json"), R"({"keys":[{"kid":"b"}]})");
  EXPECT_EQ(fixture_.CallsOf(kPostMaps), posts + 1);
  fixture_.RunFor(seconds(1000));
  EXPECT_EQ(fixture_.CallsOf(kPostMaps), posts + 1);
}

TEST_F(PeerIdentityTest, WhenTheKeysAreDeleted_TheyAreMadeAgainAndStayWhenTheJobIsGone) {
  fixture_.PublishKeys("a");
  StartTraining();
  fixture_.server().Remove(kube::ConfigMapResource(), keys_);
  fixture_.SyncAll();
  EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  EXPECT_TRUE(Keys().has_value());
  fixture_.RemoveJob();
  fixture_.Settle();
  EXPECT_TRUE(Keys().has_value());
}

TEST_F(PeerIdentityTest, WhenTheCacheIsBehind_TheKeysAreWrittenOnce) {
  fixture_.PublishKeys("a");
  fixture_.PutJob(Train);
  fixture_.SyncJobs();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(fixture_.ReconcileOnce().ok());
  EXPECT_EQ(fixture_.CallsOf(kPostMaps), 2) << "the job's own and the keys";
}

TEST_F(PeerIdentityTest, AConfigMapOfThatNameThatIsAnothers_IsNotTouchedAndBlocks) {
  fixture_.PublishKeys("a");
  Json metadata = Json::Object();
  metadata.Set("name", Json::String(keys_.name));
  metadata.Set("namespace", Json::String("ml"));
  Json taken = Json::Object();
  taken.Set("metadata", std::move(metadata));
  fixture_.server().Put(kube::ConfigMapResource(), std::move(taken));
  PutTraining();
  EXPECT_THAT(fixture_.PodNames(), IsEmpty());
  EXPECT_THAT(fixture_.MessageOf("Blocked"), HasSubstr("IssuerKeysNameTaken"));
  EXPECT_EQ(Data("issuer"), "");
  fixture_.server().Remove(kube::ConfigMapResource(), keys_);
  fixture_.RunFor(seconds(60));
  EXPECT_TRUE(Identified(kWorker));
  EXPECT_EQ(fixture_.ConditionOf("Blocked"), "False");
}

TEST_F(PeerIdentityTest, WhereKeysAreForbidden_RunsWithoutAndSaysSo) {
  fixture_.PublishKeys("a");
  Forbid(1);
  StartTraining();
  EXPECT_FALSE(Identified(kWorker));
  EXPECT_EQ(Keys(), std::nullopt);
  EXPECT_EQ(fixture_.ConditionOf(kPeersNotVerified), "True");
  EXPECT_THAT(fixture_.MessageOf(kPeersNotVerified), HasSubstr("IssuerKeysForbidden"));
  EXPECT_THAT(fixture_.MessageOf(kPeersNotVerified),
              HasSubstr("bind the ClusterRole system:service-account-issuer-discovery"));
  // When they can be read, those that run stay as they are, and so does who joins them.
  fixture_.EndPod(kWorker, 1);
  fixture_.RunFor(seconds(120));
  ASSERT_THAT(fixture_.PodNames(), Contains("byo-worker-0-1"));
  EXPECT_FALSE(Identified("byo-worker-0-1"));
  EXPECT_THAT(fixture_.MessageOf(kPeersNotVerified), HasSubstr("StartedWithoutTokens"));
  // The way out that the condition names.
  SetSuspend(true);
  for (const std::string& pod : fixture_.PodNames()) fixture_.RemovePod(pod);
  fixture_.Settle();
  SetSuspend(false);
  fixture_.RunFor(seconds(60));
  ASSERT_THAT(fixture_.PodNames(), Not(IsEmpty()));
  for (const std::string& pod : fixture_.PodNames()) EXPECT_TRUE(Identified(pod)) << pod;
  EXPECT_EQ(fixture_.ConditionOf(kPeersNotVerified), "False");
  EXPECT_THAT(fixture_.FinishEvents(), Contains("IssuerKeysForbidden").Times(1));
}

TEST_F(PeerIdentityTest, WhereKeysAreNotPublishedAndRequired_WaitsUntilTheyAre) {
  fixture_.RequirePeerIdentity();
  fixture_.RestartOperator();
  PutTraining();
  EXPECT_THAT(fixture_.PodNames(), IsEmpty());
  EXPECT_THAT(fixture_.MessageOf("Blocked"), HasSubstr("IssuerKeysNotPublished"));
  fixture_.PublishKeys("a");
  fixture_.RunFor(seconds(100));
  EXPECT_TRUE(Identified(kWorker));
  EXPECT_EQ(fixture_.ConditionOf("Blocked"), "False");
}

TEST_F(PeerIdentityTest, WhenTheServerIsBusyForAMoment_TheJobWaitsInsteadOfRunningWithout) {
  fixture_.PublishKeys("a");
  // One read tries four times.
  fixture_.server().FailNext("GET /openid", {503, "", {}}, 4);
  fixture_.PutJob(Train);
  fixture_.SyncAll();
  EXPECT_EQ(fixture_.ReconcileOnce().code(), StatusCode::kUnavailable);
  EXPECT_THAT(fixture_.PodNames(), IsEmpty());
  fixture_.Settle();
  EXPECT_TRUE(Identified(kWorker));
}

TEST_F(PeerIdentityTest, KeysThatWereReadOnce_StayWhenTheyCannotBeReadAgain) {
  fixture_.PublishKeys("a");
  StartTraining();
  Forbid(1000);
  fixture_.RunFor(seconds(1000));
  fixture_.EndPod(kWorker, 1);
  fixture_.RunFor(seconds(60));
  EXPECT_TRUE(Identified("byo-worker-0-1"));
  EXPECT_EQ(fixture_.ConditionOf(kPeersNotVerified), "");
  // The next operator cannot read them at all: the pods go on with what the namespace has.
  fixture_.RestartOperator();
  fixture_.Settle();
  fixture_.RunPod("byo-worker-0-1");
  fixture_.EndPod("byo-worker-1", 1);
  fixture_.RunFor(seconds(60));
  EXPECT_TRUE(Identified("byo-worker-1-1"));
  EXPECT_EQ(Data("jwks.json"), R"({"keys":[{"kid":"a"}]})");
}

// The binding goes while jobs run: that is to be seen before the cluster changes its keys.
TEST_F(PeerIdentityTest, WhenTheKeysCannotBeReadForLong_TheJobGoesOnAndSaysSo) {
  fixture_.PublishKeys("a");
  StartTraining();
  const std::string read = plan::FormatTimestamp(fixture_.now());
  Forbid(1000);
  fixture_.RunFor(seconds(590));
  EXPECT_EQ(fixture_.ConditionOf(kIssuerKeysStale), "");
  fixture_.RunFor(seconds(20));
  EXPECT_EQ(fixture_.ConditionOf(kIssuerKeysStale), "True");
  const std::string message = fixture_.MessageOf(kIssuerKeysStale);
  EXPECT_THAT(message, HasSubstr("KeysStale"));
  EXPECT_THAT(message, HasSubstr("were last read at " + read));
  EXPECT_THAT(message, HasSubstr("no rule"));
  EXPECT_THAT(message, HasSubstr("bind the ClusterRole system:service-account-issuer-discovery"));
  EXPECT_EQ(fixture_.ConditionOf(kPeersNotVerified), "");
  EXPECT_EQ(Data("jwks.json"), R"({"keys":[{"kid":"a"}]})");
  fixture_.RunFor(seconds(600));
  EXPECT_EQ(fixture_.MessageOf(kIssuerKeysStale), message) << "nothing new to say";
  EXPECT_THAT(fixture_.FinishEvents(), Contains("KeysStale").Times(1));
}

TEST_F(PeerIdentityTest, WhenTheKeysCanBeReadAgain_TheyAreNoLongerStale) {
  fixture_.PublishKeys("a");
  StartTraining();
  // Missed at 300, 360 ... 660 s.
  Forbid(7);
  fixture_.RunFor(seconds(660));
  ASSERT_EQ(fixture_.ConditionOf(kIssuerKeysStale), "True");
  fixture_.PublishKeys("b");
  fixture_.RunFor(seconds(120));
  EXPECT_EQ(fixture_.ConditionOf(kIssuerKeysStale), "False");
  EXPECT_EQ(Data("jwks.json"), R"({"keys":[{"kid":"b"}]})");
}

// The one before it had read them.
TEST_F(PeerIdentityTest, WhenAnOperatorHasNeverReadTheKeysThatReplicasUse_TheyAreStaleToo) {
  fixture_.PublishKeys("a");
  StartTraining();
  Forbid(1000);
  fixture_.RestartOperator();
  fixture_.RunFor(seconds(700));
  EXPECT_EQ(fixture_.ConditionOf(kIssuerKeysStale), "True");
  EXPECT_THAT(fixture_.MessageOf(kIssuerKeysStale), HasSubstr("since this operator began to"));
}

}  // namespace
}  // namespace pstrain::job
