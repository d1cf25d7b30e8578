#include "library/data/resources/resource_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeindex>
#include <vector>

namespace pstrain::program {
namespace {

using ::testing::HasSubstr;

class ResourceTableTest : public testing::Test {
 protected:
  ResourceTableTest() {
    functions_.Add("Text",
                   {typeid(std::string),
                    [this](const WorkerContext& context) -> Result<std::shared_ptr<void>> {
                      ++made_;
                      return std::shared_ptr<void>(std::make_shared<std::string>(
                          std::to_string(context.worker_index) + " of " +
                          std::to_string(context.num_workers)));
                    }},
                   "here");
    functions_.Add("Throwing",
                   {typeid(std::string),
                    [this](const WorkerContext&) -> Result<std::shared_ptr<void>> {
                      ++made_;
                      throw std::runtime_error("of its own");
                    }},
                   "here");
  }
  Result<std::shared_ptr<void>> Get(const std::string& name) {
    return table_.Get(name, 4, typeid(std::string));
  }

  std::atomic<int> made_{0};
  ResourceRegistry functions_;
  ResourceTable table_{functions_, 2};
};

TEST_F(ResourceTableTest, WhenManyAskForOne_ItIsMadeOnce) {
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<void>> got(8);
  for (std::shared_ptr<void>& one : got) {
    threads.emplace_back([this, &one] { one = Get("Text").value(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made_, 1);
  for (const std::shared_ptr<void>& one : got) EXPECT_EQ(one, got.front());
  EXPECT_EQ(*std::static_pointer_cast<std::string>(got.front()), "2 of 4");
}

TEST_F(ResourceTableTest, WhenMakingItFails_TheNextCallTriesAgain) {
  for (int i = 1; i <= 2; ++i) {
    const Status status = Get("Throwing").status();
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_THAT(status.message(), HasSubstr("resource Throwing: "));
    EXPECT_THAT(status.message(), HasSubstr("of its own"));
    EXPECT_EQ(made_, i);
  }
}

TEST_F(ResourceTableTest, WhenItIsOfAnotherBuild_ItSaysSo) {
  const Status absent = Get("Absent").status();
  EXPECT_EQ(absent.code(), StatusCode::kNotFound);
  EXPECT_THAT(absent.message(), HasSubstr("no resource function Absent"));
  const Status other = table_.Get("Text", 4, typeid(int)).status();
  EXPECT_EQ(other.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(made_, 0);
}

}  // namespace
}  // namespace pstrain::program
