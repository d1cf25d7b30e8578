#include "runtime/checkpoint/chief_term.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/os/file_faults.h"
#include "base/os/files.h"

namespace pstrain {
namespace {

TEST(ChiefTerm, Take_CountsUp) {
  const TempDir run;
  EXPECT_EQ(*HighestChiefTerm(run.path()), 0u);
  EXPECT_EQ(TakeChiefTerm(run.path())->number, 1u);
  EXPECT_EQ(TakeChiefTerm(run.path())->number, 2u);
  EXPECT_TRUE(CheckChiefTerm(run.path(), {2, 0}).ok());
  EXPECT_EQ(CheckChiefTerm(run.path(), {1, 0}).code(), StatusCode::kAborted);
}

TEST(ChiefTerm, Take_WhenNamesAreForeign_PassesOverThem) {
  const TempDir run;
  ASSERT_TRUE(CreateDirectories(run.File("chiefs/07")).ok());
  ASSERT_TRUE(CreateDirectories(run.File("chiefs/9x")).ok());
  ASSERT_TRUE(CreateDirectories(run.File("chiefs/10")).ok());
  EXPECT_EQ(TakeChiefTerm(run.path())->number, 11u);
}

TEST(ChiefTerm, Take_WhenManyTakeConcurrently_GivesEachAnother) {
  const TempDir run;
  std::vector<std::uint64_t> taken(8);
  {
    std::vector<std::jthread> chiefs;
    for (std::uint64_t& term : taken) {
      chiefs.emplace_back([&run, &term] { term = TakeChiefTerm(run.path())->number; });
    }
  }
  EXPECT_EQ(std::set(taken.begin(), taken.end()),
            (std::set<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

/// A chief that takes the same number, because the file system creates nothing exclusively: it
/// writes its id just before the next `call` on the file.
class Intruder {
 public:
  Intruder(std::string call, std::string path)
      : call_(std::move(call)),
        path_(std::move(path)),
        faults_([this](std::string_view made, const std::string& on) {
          if (made != call_ || on != path_ || std::exchange(done_, true)) return 0;
          EXPECT_TRUE(WriteFileSynced(path_, "0123456789abcdef").ok());
          return 0;
        }) {}

 private:
  const std::string call_;
  const std::string path_;
  bool done_ = false;
  const ScopedFileFaults faults_;
};

TEST(ChiefTerm, Take_WhenAnotherChiefHasWrittenItsId_TakesTheNextNumber) {
  const TempDir run;
  const Intruder intruder("read", run.File("chiefs/1"));
  const ChiefTerm term = *TakeChiefTerm(run.path());
  EXPECT_EQ(term.number, 2u);
  EXPECT_TRUE(CheckChiefTerm(run.path(), term).ok());
}

TEST(ChiefTerm, Check_WhenAnotherChiefWritesItsIdLater_IsAborted) {
  const TempDir run;
  const ChiefTerm term = *TakeChiefTerm(run.path());
  EXPECT_NE(term.id, 0u);
  EXPECT_TRUE(CheckChiefTerm(run.path(), term).ok());
  ASSERT_TRUE(WriteFileSynced(run.File("chiefs/1"), "0123456789abcdef").ok());
  EXPECT_EQ(CheckChiefTerm(run.path(), term).code(), StatusCode::kAborted);
}

TEST(ChiefTerm, WhenTheFormerOnesAreNotListedYet_IsAboveThem) {
  const TempDir dir;
  ASSERT_EQ(TakeChiefTerm(dir.path())->number, 1u);
  ASSERT_EQ(TakeChiefTerm(dir.path())->number, 2u);
  int listings = 0;
  const ScopedFileFaults faults([](std::string_view, const std::string&) { return 0; },
                                [&listings](const std::string&, std::vector<std::string>& names) {
                                  ASSERT_LT(++listings, 100) << "it goes on for ever";
                                  names.clear();
                                });
  EXPECT_EQ(TakeChiefTerm(dir.path())->number, 3u);
}

}  // namespace
}  // namespace pstrain
