#include "operator/kube/list_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pstrain::kube {
namespace {

using ::testing::ElementsAre;

constexpr const char* kPage =
    "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"9\",\"continue\":\"t\"},\n"
    " \"items\" : [ {\"a\":[1,{\"b\":\"],}\\\"\\\\\"}]} , {\"items\":[{\"c\":2}]}, {} ],\n"
    " \"extra\": {\"items\": [3]}}\n";

/// Writes the text in pieces of that size; the items as text.
Status ReadPieces(const std::string& text, std::size_t piece, std::vector<std::string>& items,
                  std::string* version = nullptr) {
  ListReader reader([&](const Json& item) {
    items.push_back(WriteJson(item));
    return OkStatus();
  });
  for (std::size_t at = 0; at < text.size(); at += piece) {
    PSTRAIN_RETURN_IF_ERROR(reader.Write(std::string_view(text).substr(at, piece)));
  }
  PSTRAIN_RETURN_IF_ERROR(reader.Finish());
  if (version != nullptr) *version = reader.resource_version() + "/" + reader.continue_token();
  return OkStatus();
}

TEST(ListReader, Page_InPiecesOfAnySize_GivesTheSameItems) {
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 1000U}) {
    std::vector<std::string> items;
    std::string version;
    ASSERT_TRUE(ReadPieces(kPage, piece, items, &version).ok()) << piece;
    EXPECT_THAT(items, ElementsAre(R"({"a":[1,{"b":"],}\"\\"}]})", R"({"items":[{"c":2}]})", "{}"));
    EXPECT_EQ(version, "9/t");
  }
}

TEST(ListReader, Page_WithoutItems_IsEmpty) {
  for (const char* page : {R"({"items":[]})", R"({"items":null,"metadata":{}})", "{}"}) {
    std::vector<std::string> items;
    EXPECT_TRUE(ReadPieces(page, 1, items).ok()) << page;
    EXPECT_TRUE(items.empty()) << page;
  }
}

TEST(ListReader, Item_ThatCannotBeRead_CostsNoOther) {
  std::vector<std::string> items;
  EXPECT_TRUE(ReadPieces(R"({"items":[{"a":1},{"a":1,"a":2},7,{"b":1}]})", 5, items).ok());
  EXPECT_THAT(items, ElementsAre(R"({"a":1})", R"({"b":1})"));
}

TEST(ListReader, Page_ThatIsNone_IsDataLoss) {
  for (const char* page :
       {"", "[", "7", "{\"items\":[{}", R"({"items":[{}]}x)", R"({"metadata":{]})",
        R"({"items":[}})", R"({"metadata":{"a"}})", R"({"metadata"})", "}"}) {
    std::vector<std::string> items;
    EXPECT_EQ(ReadPieces(page, 1, items).code(), StatusCode::kDataLoss) << page;
  }
}

TEST(ListReader, Item_ThatIsTooLong_IsDataLoss) {
  ListReader reader([](const Json&) { return OkStatus(); }, 10);
  EXPECT_EQ(reader.Write(R"({"items":[{"abcdefgh":1}]})").code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace pstrain::kube
