#include "runtime/input/csv/csv_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "base/os/files.h"
#include "tests/runtime/input/test_input.h"

namespace pstrain {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

class CsvReaderTest : public testing::Test {
 protected:
  /// The third record of a file that goes on with `rest`; it begins in line 3.
  Result<std::size_t> ThirdFrom(const std::string& rest) {
    WriteTestFile(path_, "1,a\n2,b\n" + rest);
    PSTRAIN_ASSIGN_OR_RETURN(CsvReader reader, CsvReader::Open(path_, path_, {}));
    CsvRecord record;
    for (int i = 0; i < 2; ++i) {
      PSTRAIN_ASSIGN_OR_RETURN(const bool found, reader.Next(record));
      if (!found) return NotFoundError("record " + std::to_string(i));
    }
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, reader.Next(record));
    if (!found) return NotFoundError("record 3");
    return record.fields.at(1).size();
  }
  void ExpectRefused(const std::string& rest, const std::string& why) {
    const Status status = ThirdFrom(rest).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), path_ + ":3: " + why);
  }

  TempDir dir_;
  const std::string path_ = dir_.File("a.csv");
};

/// Lines, as what follows a quote that somebody has forgotten to close.
std::string Lines(std::size_t bytes) {
  std::string lines(bytes, 'x');
  for (std::size_t i = 99; i < bytes; i += 100) lines[i] = '\n';
  return lines;
}

TEST_F(CsvReaderTest, WhenARecordIsLong_IsReadWhole) {
  const auto read = ThirdFrom("3,\"" + Lines(5 * kMiB) + "\"\n4,d\n");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(*read, 5 * kMiB);
}

TEST_F(CsvReaderTest, WhenAQuoteIsNotClosed_NamesTheLineOfItsRecord) {
  ExpectRefused("3,\"" + Lines(5 * kMiB), "a quoted field is not closed");
}

TEST_F(CsvReaderTest, WhenARecordIsTooLong_NamesItsLineAndTheLimit) {
  ExpectRefused("3,\"" + Lines(65 * kMiB),
                "the record is longer than 64 MiB (a quote that is not closed?)");
}

}  // namespace
}  // namespace pstrain
