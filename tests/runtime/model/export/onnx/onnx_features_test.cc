#include "runtime/model/export/onnx/onnx_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OnnxFeaturesTest : public testing::Test {
 protected:
  Feature& Add(const std::string& name, const std::string& column = "") {
    Feature* feature = features_.Add();
    feature->set_name(name);
    feature->set_column(column);
    return *feature;
  }
  Feature& AddVocabulary(const std::string& name, const std::string& column, int oov_buckets) {
    Feature& feature = Add(name, column);
    for (const char* text : {"?", "b", "a"}) feature.mutable_vocabulary()->add_values(text);
    feature.mutable_vocabulary()->set_oov_buckets(oov_buckets);
    return feature;
  }
  OnnxFeatures& Nodes(const std::set<std::size_t>& used) {
    Result<FeatureSet> set = FeatureSet::Create(features_);
    EXPECT_TRUE(set.ok()) << set.status().ToString();
    set_.emplace(std::move(set).value());
    nodes_.emplace(*set_, used, "?", writer_);
    return *nodes_;
  }
  const OnnxNode& Node(const std::string& name) const {
    for (const OnnxNode& node : graph_.node()) {
      if (node.name() == name) return node;
    }
    ADD_FAILURE() << "no node " << name;
    return OnnxNode::default_instance();
  }
  /// "NAME TYPE" of each.
  std::vector<std::string> Inputs() const {
    std::vector<std::string> inputs;
    for (const OnnxValueInfo& input : graph_.input()) {
      const int type = input.type().tensor_type().elem_type();
      inputs.push_back(input.name() + (type == OnnxTensor::DOUBLE   ? " number"
                                       : type == OnnxTensor::STRING ? " text"
                                       : type == OnnxTensor::INT64  ? " id"
                                                                    : " ?"));
    }
    return inputs;
  }

  FeatureSet::FeatureList features_;
  OnnxGraph graph_;
  OnnxGraphWriter writer_{graph_};
  std::optional<FeatureSet> set_;
  std::optional<OnnxFeatures> nodes_;
};

TEST_F(OnnxFeaturesTest, Inputs_AreNumbersTextsAndIdsOfTheFeaturesThatAreUsed) {
  Add("age").mutable_numeric();
  Add("bucket", "age")
      .mutable_numeric()
      ->mutable_transform()
      ->mutable_bucketize()
      ->add_boundaries(1);
  AddVocabulary("age_text", "age", 1);
  AddVocabulary("closed", "city", 0);
  AddVocabulary("open", "city", 2);
  Add("hashed", "city").mutable_hashed()->set_buckets(7);
  Feature& cross = Add("cross");
  for (const char* part : {"hashed", "closed"}) cross.mutable_crossed()->add_features(part);
  cross.mutable_crossed()->set_buckets(9);
  Add("unused").mutable_hashed()->set_buckets(7);
  OnnxFeatures& nodes = Nodes({0, 1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Inputs(), ElementsAre("age number", "age/text text", "city text", "open/id id",
                                    "hashed/id id", "cross/id id"));
  EXPECT_EQ(nodes.FirstInput(), "age");
  EXPECT_THAT(graph_.input(3).doc_string(),
              HasSubstr("the place of city in the vocabulary, else 3 + Fingerprint64 modulo 2: "
                        "below 5; -1: none"));
  EXPECT_THAT(graph_.input(4).doc_string(), HasSubstr("Fingerprint64 of city modulo the buckets: "
                                                      "below 7"));
  EXPECT_THAT(graph_.input(5).doc_string(), HasSubstr("below 9"));
  EXPECT_EQ(graph_.input(0).type().tensor_type().shape().dim(0).dim_param(), "records");
}

TEST_F(OnnxFeaturesTest, Texts_ThatMarkAMissingValueAreNoneAlsoWhereTheListHasThem) {
  AddVocabulary("closed", "city", 0);
  AddVocabulary("open", "city", 1);
  OnnxFeatures& nodes = Nodes({0, 1});
  EXPECT_EQ(Node(nodes.IdsOf(0).present).op_type(), "GreaterOrEqual");
  nodes.IdsOf(1);
  for (const auto& [name, others] : {std::pair{"closed", -1}, std::pair{"open", 3}}) {
    const OnnxNode& place = Node("features/" + std::string(name) + "/place");
    EXPECT_EQ(place.domain(), "ai.onnx.ml");
    EXPECT_THAT(place.input(), ElementsAre("city"));
    ASSERT_EQ(place.attribute_size(), 3);
    EXPECT_THAT(place.attribute(0).strings(), ElementsAre("", "?", "b", "a"));
    EXPECT_THAT(place.attribute(1).ints(), ElementsAre(-1, -1, 1, 2));
    EXPECT_EQ(place.attribute(2).i(), others);
  }
}

TEST_F(OnnxFeaturesTest, Numbers_AreMadeOnce) {
  Add("age").mutable_numeric()->mutable_transform()->mutable_log();
  Add("bucket", "age")
      .mutable_numeric()
      ->mutable_transform()
      ->mutable_bucketize()
      ->add_boundaries(1);
  OnnxFeatures& nodes = Nodes({0, 1});
  const std::string number = nodes.Number(0);
  const int made = graph_.node_size();
  EXPECT_EQ(nodes.Number(0), number);
  EXPECT_EQ(graph_.node_size(), made);
  // Every record is in a bucket.
  EXPECT_EQ(nodes.IdsOf(1).present, "");
  EXPECT_EQ(Node(nodes.IdsOf(1).node).op_type(), "ReduceSum");
}

}  // namespace
}  // namespace pstrain
