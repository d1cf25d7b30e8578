#include "proto/contract/stats_page.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <random>

namespace pstrain {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr StatDefinition kSteps{"steps", "pstrain_worker_steps_total", "", "Steps done."};
constexpr StatDefinition kPull{"phase_seconds.pull", "pstrain_worker_phase_seconds_total",
                               R"(phase="pull")", "Time by phase."};

/// A copy of a page with one slot, aligned as a mapping is.
std::vector<std::uint64_t> CopyOfSmallPage() {
  auto page = StatsPage::Private(4);
  EXPECT_TRUE((*page)->Append(kPull, StatType::kDouble, StatKind::kCounter).ok());
  std::vector<std::uint64_t> copy((*page)->bytes().size() / 8);
  std::memcpy(copy.data(), (*page)->bytes().data(), (*page)->bytes().size());
  return copy;
}

std::span<const std::byte> Bytes(const std::vector<std::uint64_t>& words) {
  return std::as_bytes(std::span(words));
}

template <typename Struct>
Struct& At(std::vector<std::uint64_t>& words, std::size_t offset) {
  return *reinterpret_cast<Struct*>(reinterpret_cast<std::byte*>(words.data()) + offset);
}

TEST(StatsPage, WhenASlotIsAppended_IsReadWithItsValue) {
  auto page = StatsPage::Create();
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  auto cell = (*page)->Append(kPull, StatType::kDouble, StatKind::kCounter);
  ASSERT_TRUE(cell.ok());
  **cell = std::bit_cast<std::uint64_t>(1.5);

  const auto readings = (*page)->Read();

  ASSERT_TRUE(readings.ok());
  ASSERT_THAT(*readings, SizeIs(1));
  const StatReading& reading = readings->front();
  EXPECT_EQ(reading.key, "phase_seconds.pull");
  EXPECT_EQ(reading.name, "pstrain_worker_phase_seconds_total");
  EXPECT_EQ(reading.labels, R"(phase="pull")");
  EXPECT_EQ(reading.help, "Time by phase.");
  EXPECT_EQ(reading.kind, StatKind::kCounter);
  EXPECT_EQ(reading.AsDouble(), 1.5);
}

TEST(StatsPage, WhenCreated_IsSealedAndCloseOnExec) {
  auto page = StatsPage::Create();
  ASSERT_TRUE(page.ok());
  const int fd = (*page)->fd();
  EXPECT_EQ(fcntl(fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
  EXPECT_NE(ftruncate(fd, 64), 0);
}

TEST(StatsPage, WhenMappedTwice_SharesSlotsAndValues) {
  auto reader = StatsPage::Create();
  ASSERT_TRUE(reader.ok());
  auto writer = StatsPage::Map(dup((*reader)->fd()));
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  auto cell = (*writer)->Append(kSteps, StatType::kU64, StatKind::kCounter);
  ASSERT_TRUE(cell.ok());
  **cell = 7;
  writer->reset();

  const auto readings = (*reader)->Read();

  ASSERT_TRUE(readings.ok());
  ASSERT_THAT(*readings, SizeIs(1));
  EXPECT_EQ(readings->front().bits, 7U);
}

TEST(StatsPage, WhenTheDescriptorIsNotAPage_IsRefused) {
  EXPECT_FALSE(StatsPage::Map(-1).ok());
  const int unsealed = memfd_create("t", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(unsealed, 4096), 0);
  EXPECT_EQ(StatsPage::Map(unsealed).status().code(), StatusCode::kFailedPrecondition);
  const int zeros = memfd_create("t", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(zeros, 4096), 0);
  ASSERT_EQ(fcntl(zeros, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
  EXPECT_EQ(StatsPage::Map(zeros).status().code(), StatusCode::kDataLoss);
}

TEST(StatsPage, WhenFull_RefusesTheNextSlot) {
  auto page = StatsPage::Private(1);
  ASSERT_TRUE(page.ok());
  EXPECT_TRUE((*page)->Append(kSteps, StatType::kU64, StatKind::kCounter).ok());
  const auto cell = (*page)->Append(kPull, StatType::kU64, StatKind::kCounter);
  EXPECT_EQ(cell.status().code(), StatusCode::kResourceExhausted);
}

TEST(StatsPage, WhenATextIsUnusable_RefusesTheSlot) {
  auto page = StatsPage::Private();
  ASSERT_TRUE(page.ok());
  const std::string long_text(200, 'a');
  const StatDefinition bad[] = {{"", "name", "", ""},
                                {"a key", "name", "", ""},
                                {"key", "1name", "", ""},
                                {"key", "name", "phase=pull", ""},
                                {"key", "name", R"(phase="pull",)", ""},
                                {"key", "name", R"(phase="pu\ll")", ""},
                                {"key", "name", "", "two\nlines"},
                                {long_text, "name", "", ""},
                                {"key", long_text, "", ""},
                                {"key", "name", "", long_text}};
  for (const StatDefinition& definition : bad) {
    EXPECT_EQ((*page)->Append(definition, StatType::kU64, StatKind::kGauge).status().code(),
              StatusCode::kInvalidArgument)
        << definition.key << " " << definition.name << " " << definition.labels;
  }
  EXPECT_THAT(*(*page)->Read(), IsEmpty());
}

TEST(StatLabels, WhenWellFormed_AreParsed) {
  EXPECT_THAT(*ParseStatLabels(R"(a="1",b_2="x y")"),
              testing::ElementsAre(Pair("a", "1"), Pair("b_2", "x y")));
  EXPECT_THAT(*ParseStatLabels(""), IsEmpty());
}

TEST(ReadStatsPage, WhenTheHeaderIsForeign_IsDataLoss) {
  EXPECT_FALSE(ReadStatsPage({}).ok());
  const auto refused = [](auto change) {
    auto words = CopyOfSmallPage();
    change(At<StatsPageHeader>(words, 0));
    return ReadStatsPage(Bytes(words)).status().code() == StatusCode::kDataLoss;
  };
  EXPECT_TRUE(refused([](StatsPageHeader& h) { h.magic ^= 1; }));
  EXPECT_TRUE(refused([](StatsPageHeader& h) { h.version = 2; }));
  EXPECT_TRUE(refused([](StatsPageHeader& h) { h.page_bytes += 8; }));
  EXPECT_TRUE(refused([](StatsPageHeader& h) { h.entry_bytes = 8; }));
  EXPECT_TRUE(refused([](StatsPageHeader& h) { h.max_slots = 5; }));
  EXPECT_TRUE(refused([](StatsPageHeader& h) { h.max_slots = 0xffffffff; }));
}

TEST(ReadStatsPage, WhenTheCountIsTooHigh_ReadsOnlyWhatIsThere) {
  auto words = CopyOfSmallPage();
  At<StatsPageHeader>(words, 0).slot_count = 0xffffffff;
  const auto readings = ReadStatsPage(Bytes(words));
  ASSERT_TRUE(readings.ok());
  EXPECT_THAT(*readings, SizeIs(1));
}

TEST(ReadStatsPage, WhenAnEntryIsBad_SkipsIt) {
  const auto skipped = [](auto change) {
    auto words = CopyOfSmallPage();
    change(At<StatsPageEntry>(words, sizeof(StatsPageHeader)));
    const auto readings = ReadStatsPage(Bytes(words));
    return readings.ok() && readings->empty();
  };
  EXPECT_TRUE(skipped([](StatsPageEntry& e) { e.value_offset = 0xfffffff8; }));
  EXPECT_TRUE(skipped([](StatsPageEntry& e) { e.value_offset = 0; }));
  EXPECT_TRUE(skipped([](StatsPageEntry& e) { e.value_offset += 4; }));
  EXPECT_TRUE(skipped([](StatsPageEntry& e) { e.type = 2; }));
  EXPECT_TRUE(skipped([](StatsPageEntry& e) { e.kind = 9; }));
  EXPECT_TRUE(skipped([](StatsPageEntry& e) { std::memset(e.key, 'a', sizeof(e.key)); }));
  EXPECT_TRUE(skipped([](StatsPageEntry& e) { e.name[0] = '{'; }));
  EXPECT_TRUE(skipped([](StatsPageEntry& e) { e.labels[0] = '"'; }));
  EXPECT_TRUE(skipped([](StatsPageEntry& e) { e.help[0] = '\n'; }));
}

TEST(ReadStatsPage, WhenBytesAreRandom_NeverReadsOutside) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    auto words = CopyOfSmallPage();
    for (int i = 0; i < 8; ++i) words[random() % words.size()] = random();
    const auto readings = ReadStatsPage(Bytes(words));
    EXPECT_TRUE(!readings.ok() || readings->size() <= 4U);
  }
}

}  // namespace
}  // namespace pstrain
