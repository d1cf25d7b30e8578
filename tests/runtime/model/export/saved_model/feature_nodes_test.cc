#include "runtime/model/export/saved_model/feature_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace pstrain {
namespace {

using testing::ElementsAre;

class FeatureNodesTest : public testing::Test {
 protected:
  Feature& Add(const std::string& name, const std::string& column = "") {
    Feature* feature = features_.Add();
    feature->set_name(name);
    feature->set_column(column);
    return *feature;
  }
  FeatureNodes& Nodes() {
    Result<FeatureSet> set = FeatureSet::Create(features_);
    EXPECT_TRUE(set.ok()) << set.status().ToString();
    set_.emplace(std::move(set).value());
    nodes_.emplace(*set_, "?", "scope", writer_);
    return *nodes_;
  }
  const TfNodeDef& Node(const std::string& name) const {
    for (const TfNodeDef& node : graph_.node()) {
      if (node.name() == name) return node;
    }
    ADD_FAILURE() << "no node " << name;
    return TfNodeDef::default_instance();
  }

  FeatureSet::FeatureList features_;
  TfGraphDef graph_;
  GraphWriter writer_{graph_};
  std::optional<FeatureSet> set_;
  std::optional<FeatureNodes> nodes_;
};

TEST_F(FeatureNodesTest, AColumnIsANumberUnlessSomethingReadsItsText) {
  Add("age").mutable_numeric();
  Add("hours").mutable_numeric();
  Add("age_text", "age").mutable_hashed()->set_buckets(7);
  FeatureNodes& nodes = Nodes();
  ASSERT_EQ(nodes.columns().size(), 2U);
  EXPECT_EQ(nodes.columns()[0].type, DT_STRING);
  EXPECT_EQ(nodes.columns()[1].type, DT_DOUBLE);
  nodes.Number(0);
  EXPECT_EQ(Node("features/age/parsed").op(), "StringToNumber");
  nodes.Number(1);
  EXPECT_EQ(Node("features/hours/missing").op(), "IsNan");
}

TEST_F(FeatureNodesTest, ARecordHasNoIdWhereItsTextIsMissingOrUnknown) {
  Feature& closed = Add("closed");
  closed.mutable_vocabulary()->add_values("a");
  closed.mutable_vocabulary()->set_oov_buckets(0);
  Add("hashed").mutable_hashed()->set_buckets(7);
  Add("bucket").mutable_numeric()->mutable_transform()->mutable_bucketize()->add_boundaries(1);
  Feature& cross = Add("cross");
  for (const char* part : {"hashed", "closed", "bucket"}) {
    cross.mutable_crossed()->add_features(part);
  }
  cross.mutable_crossed()->set_buckets(9);
  FeatureNodes& nodes = Nodes();
  EXPECT_THAT(Node(nodes.IdsOf(0).present).input(),
              ElementsAre("features/closed/known", "features/closed/given"));
  EXPECT_EQ(Node(nodes.IdsOf(1).present).op(), "LogicalNot");
  EXPECT_EQ(nodes.IdsOf(2).present, "");
  EXPECT_THAT(Node(nodes.IdsOf(3).present).input(),
              ElementsAre(nodes.IdsOf(1).present, nodes.IdsOf(0).present));
  const TfNodeDef& crossed = Node("features/cross/cross");
  EXPECT_EQ(crossed.attr().at("num_buckets").i(), 9);
  // A hashed part enters by its text, the others by their ids, in the order of the job.
  EXPECT_THAT(crossed.attr().at("dense_types").list().type(),
              ElementsAre(DT_STRING, DT_INT64, DT_INT64));
  EXPECT_THAT(Node("features/cross/part").input(0), nodes.columns()[1].node);
  EXPECT_THAT(nodes.initializers(), ElementsAre("features/closed/table/filled"));
}

}  // namespace
}  // namespace pstrain
