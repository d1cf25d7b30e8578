#include "runtime/chief/disk/declarations.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "base/os/file_faults.h"
#include "runtime/chief/disk/generation_file.h"
#include "runtime/shard/catalog.h"
#include "tests/runtime/chief/chief_test_support.h"

namespace pstrain {
namespace {

VariableSpec Dense(const std::string& name, std::int64_t rows = 6) {
  VariableSpec variable;
  variable.set_name(name);
  variable.set_kind(VariableSpec::DENSE);
  variable.add_shape(rows);
  variable.mutable_initializer()->set_kind(Initializer::ZEROS);
  variable.mutable_optimizer()->mutable_sgd()->set_learning_rate(0.5);
  return variable;
}

/// The run begins with "first".
class DeclarationsTest : public chief_test::ChiefPartsTest {
 protected:
  void SetUp() override {
    VariableSpec first = Dense("first");
    first.add_partitions()->set_size(6);
    *run_.add_variables() = first;
  }
  /// Nothing: it is not decided yet.
  std::shared_ptr<std::optional<Status>> Begin(std::vector<VariableSpec> variables) {
    auto outcome = std::make_shared<std::optional<Status>>();
    declarations_.Declare(std::move(variables),
                          [outcome](const Status& status) { *outcome = status; });
    return outcome;
  }
  Status Declare(std::vector<VariableSpec> variables) {
    const auto outcome = Begin(std::move(variables));
    EXPECT_TRUE(outcome->has_value());
    return outcome->value_or(InternalError("never answered"));
  }
  Result<RunDescription> DescriptionOfTheNextChief() {
    const Result<RunDirectory> next = RunDirectory::Open(settings_, "run");
    EXPECT_TRUE(next.ok());
    RunDescription fresh = run_;
    fresh.set_generation(0);
    fresh.mutable_variables()->DeleteSubrange(1, fresh.variables_size() - 1);
    return next->Description(std::move(fresh));
  }

  int grown_ = 0;
  Declarations declarations_{chief(), run_, [this] { ++grown_; }};
};

TEST_F(DeclarationsTest, WhatIsDeclared_IsDurableBeforeAnybodyHearsOfIt) {
  ASSERT_TRUE(setup_->directory.Description(run_).ok());
  disk_.Pause();
  const auto outcome = Begin({Dense("late"), Dense("later", 4)});
  EXPECT_FALSE(outcome->has_value());
  EXPECT_EQ(run_.variables_size(), 1);
  EXPECT_EQ(grown_, 0);
  disk_.Release();
  ASSERT_TRUE(outcome->has_value());
  EXPECT_EQ(**outcome, OkStatus());
  EXPECT_EQ(grown_, 1);
  EXPECT_EQ(run_.generation(), 1u);
  ASSERT_EQ(run_.variables_size(), 3);
  EXPECT_EQ(run_.variables(2).id(), 2u);
  EXPECT_EQ(run_.variables(2).generation(), 1u);
  EXPECT_TRUE(
      Catalog::Create({run_.variables().begin(), run_.variables().end()}, run_.shards(), 4).ok());
  const Result<RunDescription> next = DescriptionOfTheNextChief();
  ASSERT_TRUE(next.ok()) << next.status().ToString();
  EXPECT_EQ(next->SerializeAsString(), run_.SerializeAsString());
}

TEST_F(DeclarationsTest, TheSameAgain_IsOkAndWritesNothing) {
  EXPECT_EQ(Declare({Dense("first")}), OkStatus());
  EXPECT_EQ(Declare({Dense("late"), Dense("late")}), OkStatus());
  EXPECT_EQ(run_.variables_size(), 2);
  disk_.Pause();
  EXPECT_EQ(Declare({Dense("late"), Dense("first")}), OkStatus());
  EXPECT_EQ(run_.generation(), 1u);
}

TEST_F(DeclarationsTest, AnotherUnderTheSameName_IsRefusedWithTheDifference) {
  const Status status = Declare({Dense("late"), Dense("first", 7)});
  EXPECT_EQ(status.code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(status.message(),
            "variable first is declared already, and now differs: its shape is [7], and was [6]; "
            "give it another name");
  EXPECT_EQ(Declare({Dense("late"), Dense("late", 5)}).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(run_.variables_size(), 1) << "all or nothing";
}

TEST_F(DeclarationsTest, WhatDoesNotHoldTogether_IsRefused) {
  EXPECT_EQ(Declare({Dense("late", -1)}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Declare({Dense("late", 0)}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Declare({Dense("")}).code(), StatusCode::kInvalidArgument);
  VariableSpec huge = Dense("late", std::int64_t{1} << 40);
  huge.add_shape(std::int64_t{1} << 40);
  EXPECT_EQ(Declare({huge}).code(), StatusCode::kInvalidArgument);
  VariableSpec divided = Dense("late", 2);
  for (int i = 0; i < 3; ++i) divided.add_partitions();
  EXPECT_EQ(Declare({divided}).code(), StatusCode::kInvalidArgument) << "fewer rows";
  VariableSpec integers = Dense("late");
  integers.set_dtype(VariableSpec::INT64);
  EXPECT_EQ(Declare({integers}).code(), StatusCode::kInvalidArgument) << "with an optimizer";
  EXPECT_EQ(run_.variables_size(), 1);
  integers.clear_optimizer();
  EXPECT_EQ(Declare({integers}), OkStatus());
}

TEST_F(DeclarationsTest, WhenAVariableHasItsNumberOfPartitions_ItIsDividedSo) {
  VariableSpec divided = Dense("late", 5);
  divided.add_partitions();
  divided.add_partitions();
  ASSERT_EQ(Declare({divided}), OkStatus());
  ASSERT_EQ(run_.variables(1).partitions_size(), 2);
  EXPECT_EQ(run_.variables(1).partitions(0).size(), 3);
  EXPECT_EQ(run_.variables(1).partitions(1).begin(), 3);
  EXPECT_EQ(Declare({divided}), OkStatus()) << "the same again";
  EXPECT_EQ(Declare({Dense("late", 5)}), OkStatus()) << "it leaves the number to the job";
  divided.add_partitions();
  const Status other = Declare({divided});
  EXPECT_EQ(other.code(), StatusCode::kAlreadyExists);
  EXPECT_NE(other.message().find("its number of partitions is 3, and was 2"), std::string::npos);
}

TEST_F(DeclarationsTest, OfSeveralAtATime_TheFirstComesFirst) {
  disk_.Pause();
  const auto first = Begin({Dense("late")});
  const auto other = Begin({Dense("late", 9)});
  const auto same = Begin({Dense("late"), Dense("later")});
  disk_.Release();
  EXPECT_EQ(**first, OkStatus());
  EXPECT_EQ((*other)->code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(**same, OkStatus());
  EXPECT_EQ(run_.generation(), 2u);
  EXPECT_EQ(run_.variables(2).name(), "later");
}

TEST_F(DeclarationsTest, WhenTheDiskIsFull_NobodyHearsOfItAndItCanBeDeclaredAgain) {
  {
    const ScopedFileFaults faults([](std::string_view, const std::string& path) {
      return path.find("/variables/") == std::string::npos ? 0 : ENOSPC;
    });
    const Status status = Declare({Dense("late")});
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status.ToString();
    EXPECT_NE(status.message().find("must be writable and have room"), std::string::npos);
  }
  EXPECT_EQ(run_.variables_size(), 1);
  EXPECT_EQ(grown_, 0);
  EXPECT_EQ(Declare({Dense("late", 3)}), OkStatus());
  EXPECT_EQ(run_.generation(), 1u);
}

// It has read the run before what this one writes is in place.
TEST_F(DeclarationsTest, WhenAnotherChiefHasTakenTheRun_DeclaresNothing) {
  ASSERT_TRUE(RunDirectory::Open(settings_, "run").ok());
  EXPECT_FALSE(declarations_.superseded());
  EXPECT_EQ(Declare({Dense("late")}).code(), StatusCode::kAborted);
  EXPECT_TRUE(declarations_.superseded());
  EXPECT_EQ(run_.variables_size(), 1);
  EXPECT_EQ(grown_, 0);
  EXPECT_FALSE(FileExists(RunFile("variables/1")));
}

TEST_F(DeclarationsTest, WhenPlacedRoundRobin_GoesOnWhereTheRunEnds) {
  settings_.spec.mutable_strategy()->set_placement(Strategy::RoundRobin);
  ASSERT_EQ(Declare({Dense("late")}), OkStatus());
  ASSERT_EQ(Declare({Dense("later")}), OkStatus());
  EXPECT_EQ(run_.variables(1).partitions(0).shard(), 1u);
  EXPECT_EQ(run_.variables(2).partitions(0).shard(), 0u);
}

// What is in one shard by its turn is a pack there, of this generation alone.
TEST_F(DeclarationsTest, WhenPlacedRoundRobin_OneGenerationsVariablesOfOneShardAreAPack) {
  settings_.spec.mutable_strategy()->set_placement(Strategy::RoundRobin);
  ASSERT_EQ(Declare({Dense("alone")}), OkStatus());
  ASSERT_EQ(Declare({Dense("a"), Dense("b"), Dense("c"), Dense("d")}), OkStatus());
  std::vector<std::uint32_t> packs;
  for (const VariableSpec& variable : run_.variables()) packs.push_back(variable.pack());
  EXPECT_EQ(packs, (std::vector<std::uint32_t>{0, 0, 3, 4, 3, 4}));
  EXPECT_EQ(run_.variables(4).partitions(0).shard(), run_.variables(2).partitions(0).shard());
  const auto catalog =
      Catalog::Create({run_.variables().begin(), run_.variables().end()}, run_.shards(), 4);
  EXPECT_TRUE(catalog.ok()) << catalog.status().ToString();
}

TEST_F(DeclarationsTest, WhenAGenerationIsDamaged_TheNextChiefSaysWhich) {
  ASSERT_TRUE(setup_->directory.Description(run_).ok());
  ASSERT_EQ(Declare({Dense("late")}), OkStatus());
  const std::string file = RunFile("variables/1");
  const std::string good = *ReadFile(file);
  std::string bytes = good;
  bytes.back() ^= 1;
  ASSERT_TRUE(WriteFileSynced(file, bytes).ok());
  Status status = DescriptionOfTheNextChief().status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find(file), std::string::npos) << status.ToString();
  // One of another run, put there by hand.
  CatalogGeneration other = *ParseGeneration(good);
  other.set_run_id("other");
  ASSERT_TRUE(WriteFileSynced(file, SerializeGeneration(other)).ok());
  EXPECT_EQ(DescriptionOfTheNextChief().status().code(), StatusCode::kDataLoss);
  // Whose variables do not follow those before them.
  other = *ParseGeneration(good);
  other.mutable_variables(0)->set_id(7);
  ASSERT_TRUE(WriteFileSynced(file, SerializeGeneration(other)).ok());
  status = DescriptionOfTheNextChief().status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("its id is not its position"), std::string::npos);
}

}  // namespace
}  // namespace pstrain
