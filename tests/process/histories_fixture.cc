#include "tests/process/histories_fixture.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <sstream>

#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoint_shard.h"
#include "runtime/checkpoint/checkpoints.h"

namespace pstrain {
namespace {

constexpr std::int64_t kInBlock = 20;
constexpr std::uint64_t kApart = std::uint64_t{1} << 40;
/// Of a block: the call that fails, and the last one with it.
constexpr std::int64_t kFailing = 13;
constexpr std::int64_t kLastWithIt = 15;

struct Beginning {
  std::int64_t mark = -1;
  std::int64_t parent = -1;
  std::size_t lines = 0;
};

Beginning ParseBeginning(const std::string& text) {
  std::istringstream line(text);
  std::string begins;
  Beginning beginning;
  if (!(line >> begins >> beginning.mark >> beginning.parent >> beginning.lines)) return {};
  return beginning;
}

/// First and last call of the phase of a call, and of no more than the next one. An assign is
/// alone.
std::pair<std::int64_t, std::int64_t> PhaseOf(std::int64_t number) {
  constexpr std::int64_t kAssign = 5;
  const std::int64_t block = (number - 1) / kInBlock * kInBlock;
  const std::int64_t place = number - block;
  if (place < kAssign) return {block + 1, block + kAssign - 1};
  if (place < kFailing) return {block + kAssign + 1, block + kFailing - 1};
  if (place <= kLastWithIt) return {block + kFailing, block + kLastWithIt};
  return {block + kLastWithIt + 1, block + kInBlock};
}

std::int64_t SumOf(const std::vector<std::int64_t>& amounts, std::int64_t first,
                   std::int64_t last) {
  return std::accumulate(amounts.begin() + first, amounts.begin() + last + 1, std::int64_t{0});
}

}  // namespace

void HistoriesTest::PrepareHistories(int every_seconds, const std::string& program) {
  Prepare({.command = {PSTRAIN_BIN_DIR "/histories_program"},
           .every_seconds = every_seconds,
           .program = program});
  environment_ = {"LD_PRELOAD=" PSTRAIN_FAILING_CALLS,
                  "PSTRAIN_FAILING_CALLS=" + dir_.File("failing-calls"),
                  "PSTRAIN_TEST_FULL_DISK=" + dir_.File("failing-calls")};
}

void HistoriesTest::WithoutFullDisks() {
  environment_.emplace_back("PSTRAIN_TEST_FULL_DISK=");
  full_disks_ = 0;
}

std::string HistoriesTest::HistoryFile(std::size_t history) const {
  return dir_.File("history-" + std::to_string(history));
}

std::size_t HistoriesTest::Histories() const {
  std::size_t count = 0;
  while (FileExists(HistoryFile(count))) ++count;
  return count;
}

std::vector<HistoriesTest::Line> HistoriesTest::LinesOf(std::size_t history) const {
  const Result<std::string> text = ReadFile(HistoryFile(history));
  std::istringstream lines(text.ok() ? *text : "");
  std::string line;
  std::getline(lines, line);
  std::vector<Line> all;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    Line one;
    if (words >> one.what >> one.number >> one.value) all.push_back(one);
  }
  return all;
}

std::int64_t HistoriesTest::BeginningOf(std::size_t history) const {
  const Result<std::string> text = ReadFile(HistoryFile(history));
  return text.ok() ? ParseBeginning(text->substr(0, text->find('\n'))).mark : -1;
}

bool HistoriesTest::HasSaid(std::size_t history, const std::string& what,
                            std::int64_t number) const {
  const std::vector<Line> lines = LinesOf(history);
  return std::ranges::any_of(
      lines, [&](const Line& line) { return line.what == what && line.number == number; });
}

std::vector<HistoriesTest::Line> HistoriesTest::LinesUpTo(std::int64_t history,
                                                          std::size_t lines) const {
  std::vector<Line> all;
  if (history < 0) return all;
  const Result<std::string> text = ReadFile(HistoryFile(static_cast<std::size_t>(history)));
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  if (!text.ok()) return all;
  const Beginning beginning = ParseBeginning(text->substr(0, text->find('\n')));
  EXPECT_LT(beginning.parent, history);
  if (beginning.parent < history) all = LinesUpTo(beginning.parent, beginning.lines);
  std::vector<Line> own = LinesOf(static_cast<std::size_t>(history));
  // The beginning is a line too.
  EXPECT_LE(lines, own.size() + 1) << "a mark is of lines that are not there";
  own.resize(std::min(own.size(), lines - 1));
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

std::vector<HistoriesTest::Line> HistoriesTest::Surviving() const {
  const std::size_t count = Histories();
  if (count == 0) return {};
  return LinesUpTo(static_cast<std::int64_t>(count) - 1, LinesOf(count - 1).size() + 1);
}

void HistoriesTest::ExpectSurvivingHistory() const {
  const std::vector<Line> lines = Surviving();
  std::vector<std::int64_t> amounts(kCalls + 1);
  std::map<std::int64_t, std::string> calls;
  std::int64_t base = 0;
  for (const Line& line : lines) {
    if (line.what == "base") {
      EXPECT_EQ(line.value, base) << "read by call " << line.number;
      continue;
    }
    if (line.what == "metric" || line.what == "fetched" || line.what == "saved" ||
        line.what == "full") {
      continue;
    }
    EXPECT_TRUE(calls.emplace(line.number, line.what).second)
        << "call " << line.number << " is there twice";
    if (line.what == "call") amounts.at(static_cast<std::size_t>(line.number)) = line.value;
    if (line.what == "assign") base = line.value;
  }
  EXPECT_EQ(calls.size(), static_cast<std::size_t>(kCalls));
  ExpectSeen(lines);
  ExpectFinalState(amounts, base);
}

void HistoriesTest::ExpectSeen(const std::vector<Line>& lines) const {
  std::vector<std::int64_t> amounts(kCalls + 1);
  std::map<std::int64_t, std::int64_t> fetched;
  std::int64_t calls = 0;
  std::int64_t sum = 0;
  std::size_t metrics = 0;
  std::size_t full = 0;
  for (const Line& line : lines) {
    if (line.what == "call") {
      ++calls;
      sum += line.value;
      amounts.at(static_cast<std::size_t>(line.number)) = line.value;
    } else if (line.what == "metric") {
      ++metrics;
      EXPECT_EQ(line.number, calls) << "of metric " << metrics;
      EXPECT_EQ(line.value, sum) << "of metric " << metrics;
    } else if (line.what == "fetched") {
      const auto [first, added] = fetched.emplace(line.number, line.value);
      EXPECT_EQ(first->second, line.value) << "call " << line.number << " was fetched again";
    } else if (line.what == "full") {
      ++full;
    }
  }
  EXPECT_EQ(metrics, static_cast<std::size_t>(kCalls / kInBlock));
  EXPECT_EQ(full, full_disks_);
  // All of the phases before, and perhaps of its own.
  for (const auto& [number, seen] : fetched) {
    const auto [first, last] = PhaseOf(number);
    EXPECT_GE(seen, SumOf(amounts, 0, first - 1)) << "seen by call " << number;
    EXPECT_LE(seen, SumOf(amounts, 0, last)) << "seen by call " << number;
  }
  EXPECT_GT(fetched.size(), static_cast<std::size_t>(kCalls / 2));
}

void HistoriesTest::ExpectFinalState(const std::vector<std::int64_t>& amounts,
                                     std::int64_t base) const {
  for (const char* count :
       {"examples_expected", "examples_committed", "applied_min", "applied_max"}) {
    EXPECT_EQ(Counted(count), kCalls) << count;
  }
  const Result<std::vector<CheckpointId>> checkpoints = ListCheckpoints(RunDirectory());
  ASSERT_TRUE(checkpoints.ok() && !checkpoints->empty());
  const std::string folder = CheckpointDirectory(RunDirectory(), checkpoints->back());
  Result<CheckpointReader> checkpoint = CheckpointReader::Open(folder);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().ToString();
  EXPECT_TRUE(checkpoint->manifest().final());
  for (const CheckpointShard& shard : checkpoint->manifest().checkpoint_shards()) {
    const Result<ShardState> state = ReadCheckpointShard(folder, shard);
    ASSERT_TRUE(state.ok()) << state.status().ToString();
    EXPECT_EQ(state->examples, kCalls) << "shard " << shard.shard();
    EXPECT_EQ(state->applied.size(), static_cast<std::uint64_t>(kCalls));
    EXPECT_TRUE(state->applied.ContainsAllBelow({0, static_cast<std::uint32_t>(kCalls)}));
  }
  const std::int64_t sum = SumOf(amounts, 0, kCalls);
  using Integers = std::vector<std::int64_t>;
  const auto integers = [&](const char* name) {
    const Result<ValueArray> values = checkpoint->DenseArray(name);
    EXPECT_TRUE(values.ok()) << values.status().ToString();
    return values.ok() ? values->of<std::int64_t>() : Integers();
  };
  EXPECT_EQ(integers("sum"), Integers{sum});
  EXPECT_EQ(integers("base"), Integers{base});
  EXPECT_EQ(integers("each"), Integers(amounts.begin() + 1, amounts.end()));
  EXPECT_EQ(*checkpoint->Dense("weights"), std::vector<float>(7, static_cast<float>(sum)));
  std::vector<std::uint64_t> rows;
  for (std::uint64_t number = 1; number <= kCalls; ++number) rows.push_back(number * kApart);
  EXPECT_EQ(checkpoint->RowsArray("rows", rows)->of<std::int64_t>(),
            Integers(amounts.begin() + 1, amounts.end()));
}

}  // namespace pstrain
