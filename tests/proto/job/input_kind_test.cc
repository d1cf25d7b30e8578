#include "proto/job/input_kind.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

TEST(InputKind, WhateverKindIsGiven_ItsCommonFieldsAreFound) {
  const google::protobuf::OneofDescriptor& kinds = *Input::descriptor()->FindOneofByName("kind");
  ASSERT_GE(kinds.field_count(), 1);
  for (int i = 0; i < kinds.field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *kinds.field(i);
    for (const char* name :
         {"files", "bad_records", "max_bad_records", "max_bad_record_fraction", "compression"}) {
      ASSERT_NE(field.message_type()->FindFieldByName(name), nullptr) << field.name() << name;
    }
    Input input;
    input.GetReflection()->MutableMessage(&input, &field);
    EXPECT_EQ(KindOf(input), field.json_name());
    EXPECT_TRUE(FilesOf(input).empty());
    SetFilesOf(input, {"a", "b"});
    SetFilesOf(input, {"c", "d"});
    EXPECT_EQ(FilesOf(input), (std::vector<std::string>{"c", "d"}));
  }
}

TEST(InputKind, WhenCsv_PolicyAndCompressionAreTheJobs) {
  Input input;
  input.mutable_csv()->set_bad_records(Input::Skip);
  input.mutable_csv()->set_compression(Input::Gzip);
  EXPECT_EQ(BadRecordsOf(input), Input::Skip);
  EXPECT_EQ(CompressionOf(input), Input::Gzip);
}

TEST(InputKind, MostBadRecords_IsTheSmallerOfCountAndShare) {
  Input csv;
  csv.mutable_csv()->set_max_bad_record_fraction(0.29);
  EXPECT_EQ(MostBadRecords(csv, 100), 29u);
  EXPECT_EQ(MostBadRecords(csv, 3), 0u);
  csv.mutable_csv()->set_max_bad_records(7);
  EXPECT_EQ(MostBadRecords(csv, 100), 7u);
  csv.mutable_csv()->set_max_bad_records(0);
  EXPECT_EQ(MostBadRecords(csv, 100), 0u);
  Input examples;
  examples.mutable_tf_record()->set_max_bad_record_fraction(1);
  EXPECT_EQ(MostBadRecords(examples, 12), 12u);
}

TEST(InputKind, WhenNoneIsGiven_HasNoFiles) {
  EXPECT_EQ(KindOf(Input()), "");
  EXPECT_TRUE(FilesOf(Input()).empty());
  EXPECT_EQ(BadRecordsOf(Input()), Input::Fail);
  EXPECT_EQ(CompressionOf(Input()), Input::Auto);
}

}  // namespace
}  // namespace pstrain
