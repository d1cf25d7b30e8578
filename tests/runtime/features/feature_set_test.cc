#include "runtime/features/feature_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/features/fingerprint.h"

namespace pstrain {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;

class FeatureSetTest : public ::testing::Test {
 protected:
  Feature* Add(const std::string& name) {
    Feature* feature = training_.add_features();
    feature->set_name(name);
    return feature;
  }
  /// Features of records that have the column "x" only.
  Batch Transform(const std::vector<std::string_view>& texts) {
    Result<FeatureSet> set = FeatureSet::Create(training_.features());
    EXPECT_TRUE(set.ok()) << set.status().ToString();
    Batch batch = set->EmptyBatch();
    for (const std::string_view text : texts) {
      EXPECT_TRUE(set->Append({text}, batch).ok());
      ++batch.records;
    }
    return batch;
  }
  std::string Error() { return FeatureSet::Create(training_.features()).status().message(); }

  Training training_;
};

TEST_F(FeatureSetTest, WhenNumeric_AppliesTheTransform) {
  Feature* standardized = Add("s");
  standardized->set_column("x");
  standardized->mutable_numeric()->mutable_transform()->mutable_standardize()->set_mean(10);
  standardized->mutable_numeric()->mutable_transform()->mutable_standardize()->set_stddev(4);
  Feature* log = Add("l");
  log->set_column("x");
  log->mutable_numeric()->mutable_transform()->mutable_log();
  const Batch batch = Transform({"18", "-3", ""});
  EXPECT_THAT(batch.features[0].values, ElementsAre(2.0F, -3.25F, -2.5F));
  EXPECT_THAT(batch.features[1].values,
              ElementsAre(FloatEq(std::log(19.0F)), FloatEq(-std::log(4.0F)), 0.0F));
}

TEST_F(FeatureSetTest, WhenBucketized_ABoundaryBelongsToTheBucketAboveIt) {
  Feature* feature = Add("x");
  for (const double boundary : {0.0, 10.0, 100.0}) {
    feature->mutable_numeric()->mutable_transform()->mutable_bucketize()->add_boundaries(boundary);
  }
  const Batch batch = Transform({"-1", "0", "9.99", "10", "100", "1e9"});
  EXPECT_THAT(batch.features[0].ids, ElementsAre(0, 1, 1, 2, 3, 3));
}

TEST_F(FeatureSetTest, WhenVocabulary_PutsUnknownValuesBehindIt) {
  for (const int oov : {0, 5}) {
    training_.Clear();
    Feature* feature = Add("x");
    feature->mutable_vocabulary()->add_values("a");
    feature->mutable_vocabulary()->add_values("b");
    feature->mutable_vocabulary()->set_oov_buckets(oov);
    const Batch batch = Transform({"b", "zebra", "", "a"});
    if (oov == 0) {
      EXPECT_THAT(batch.features[0].ids, ElementsAre(1, 0));
      EXPECT_THAT(batch.features[0].offsets, ElementsAre(0, 1, 1, 1, 2));
    } else {
      EXPECT_THAT(batch.features[0].ids, ElementsAre(1, 2 + Fingerprint("zebra") % 5, 0));
    }
  }
}

TEST_F(FeatureSetTest, WhenCrossed_MixesIdsAndFingerprints) {
  Add("cross")->mutable_crossed()->add_features("h");
  Feature* cross = training_.mutable_features(0);
  cross->mutable_crossed()->add_features("v");
  cross->mutable_crossed()->set_buckets(1000);
  Feature* hashed = Add("h");
  hashed->set_column("x");
  hashed->mutable_hashed()->set_buckets(10);
  Feature* vocabulary = Add("v");
  vocabulary->set_column("x");
  vocabulary->mutable_vocabulary()->add_values("q");
  vocabulary->mutable_vocabulary()->add_values("a");
  const Batch batch = Transform({"a", "", "other"});
  const std::uint64_t chain =
      CombineFingerprints(CombineFingerprints(kFingerprintSeed, Fingerprint("a")), 1);
  EXPECT_THAT(batch.features[0].ids, ElementsAre(chain % 1000));
  EXPECT_THAT(batch.features[0].offsets, ElementsAre(0, 1, 1, 1));
}

TEST_F(FeatureSetTest, WhenANumberIsBad_LeavesTheBatchAsItWas) {
  Feature* hashed = Add("x");
  hashed->mutable_hashed()->set_buckets(10);
  Feature* number = Add("n");
  number->set_column("x");
  number->mutable_numeric();
  Result<FeatureSet> set = FeatureSet::Create(training_.features());
  ASSERT_TRUE(set.ok());
  Batch batch = set->EmptyBatch();
  ASSERT_TRUE(set->Append({"1"}, batch).ok());
  ++batch.records;
  EXPECT_EQ(set->Append({"one"}, batch).message(), "column x: \"one\" is not a number");
  EXPECT_EQ(batch.features[0].ids.size(), 1U);
  EXPECT_THAT(batch.features[0].offsets, ElementsAre(0, 1));
  EXPECT_THAT(batch.features[1].values, ElementsAre(1.0F));
}

TEST_F(FeatureSetTest, WhenDeclarationsAreWrong_NamesTheFeature) {
  Add("x")->mutable_numeric();
  Add("x")->mutable_numeric();
  EXPECT_EQ(Error(), "feature x: the name is used twice");
  training_.Clear();
  Add("x");
  EXPECT_EQ(Error(), "feature x: has no kind: numeric, vocabulary, hashed or crossed");
  training_.Clear();
  auto* bucketize = Add("x")->mutable_numeric()->mutable_transform()->mutable_bucketize();
  bucketize->add_boundaries(2);
  bucketize->add_boundaries(2);
  EXPECT_EQ(Error(), "feature x: bucketize.boundaries must increase");
  training_.Clear();
  Add("x")->mutable_numeric();
  CrossedFeature* crossed = Add("c")->mutable_crossed();
  crossed->set_buckets(3);
  crossed->add_features("x");
  EXPECT_EQ(Error(),
            "feature c: crosses \"x\", which is not a vocabulary, hashed or bucketised feature");
  crossed->set_features(0, "nobody");
  EXPECT_EQ(Error(), "feature c: crosses \"nobody\", which is no feature");
}

}  // namespace
}  // namespace pstrain
