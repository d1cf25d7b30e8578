#include "runtime/input/tfrecord/frame_reader.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "base/os/files.h"
#include "base/text/json.h"
#include "tests/runtime/input/tfrecord/tfrecord_file.h"
#include "tests/testing/golden.h"

namespace pstrain {
namespace {

/// The records before the end or the error.
struct Reading {
  std::vector<NumberedOffset> places;
  std::vector<std::string> records;
  Status end;
};

Reading ReadAll(FrameReader& frames) {
  Reading reading;
  while (true) {
    const NumberedOffset place = frames.position();
    std::string_view data;
    const Result<bool> found = frames.Next(data);
    if (!found.ok()) reading.end = found.status();
    if (!found.ok() || !*found) return reading;
    reading.places.push_back(place);
    reading.records.emplace_back(data);
  }
}

/// Messages begin with the name alone, whatever the folder.
Reading ReadGoldenFile(const std::string& name) {
  Result<FrameReader> frames = FrameReader::Open({name, GoldenPath("tfrecord/" + name)});
  EXPECT_TRUE(frames.ok()) << frames.status().ToString();
  return ReadAll(*frames);
}

Reading ReadBytes(const std::string& bytes) {
  FrameReader frames("f", std::make_unique<std::istringstream>(bytes));
  return ReadAll(frames);
}

TEST(FrameReader, WhenTensorFlowWroteTheFile_GivesItsRecords) {
  const Json golden = ReadGolden("tfrecord.json");
  ASSERT_NE(golden.Find("plain_frames"), nullptr);
  const std::vector<Json>& frames = golden.Find("plain_frames")->items();
  const Reading reading = ReadGoldenFile("plain.tfrecord");
  EXPECT_TRUE(reading.end.ok()) << reading.end.ToString();
  ASSERT_EQ(reading.records.size(), frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto offset = static_cast<std::uint64_t>(*frames[i].Find("offset")->AsInt64());
    EXPECT_EQ(reading.places[i], (NumberedOffset{offset, i + 1}));
    EXPECT_EQ(reading.records[i].size(), *frames[i].Find("length")->AsInt64());
    EXPECT_EQ(MaskCrc32c(Crc32c(reading.records[i])),
              *frames[i].Find("masked_crc32c_of_data")->AsInt64());
  }
}

TEST(FrameReader, WhenAFileIsDamaged_NamesFileRecordAndByte) {
  const auto expect = [](const std::string& name, std::size_t records, const std::string& error) {
    const Reading reading = ReadGoldenFile(name);
    EXPECT_EQ(reading.records.size(), records) << name;
    EXPECT_EQ(reading.end.code(), StatusCode::kDataLoss) << name;
    EXPECT_EQ(reading.end.message(), name + ": " + error);
  };
  const std::string length = "the checksum of its length does not match; ";
  expect("corrupt_length.tfrecord", 2, "record 3 at byte 141: " + length + "the file is damaged");
  expect("corrupt_length_crc.tfrecord", 2,
         "record 3 at byte 141: " + length + "the file is damaged");
  const std::string data =
      "record 3 at byte 141: the checksum of its data does not match; the file is damaged";
  expect("corrupt_data.tfrecord", 2, data);
  expect("corrupt_data_crc.tfrecord", 2, data);
  expect("truncated_in_data.tfrecord", 8,
         "record 9 at byte 672: the file is cut short: it ends after 165 of the 172 bytes of the "
         "record's data and checksum");
  // The next three TensorFlow takes for the end of the file.
  const std::string header = " bytes of the record's header, which has 12";
  expect("truncated_in_header.tfrecord", 8,
         "record 9 at byte 672: the file is cut short: it ends after 5" + header);
  expect("truncated_in_length_crc.tfrecord", 8,
         "record 9 at byte 672: the file is cut short: it ends after 10" + header);
  expect("extra_bytes.tfrecord", 9,
         "record 10 at byte 856: the file is cut short: it ends after 3" + header);
  const std::string other = "record 1 at byte 0: " + length +
                            "this is no TFRecord file, or it is compressed in another way than "
                            "input.tfRecord.compression says";
  expect("gzip.tfrecord.gz", 0, other);
  expect("zlib.tfrecord.z", 0, other);
}

TEST(FrameReader, WhenCutAnywhere_OnlyTheEndOfARecordIsTheEndOfTheFile) {
  const std::string bytes = TfFrame("abc") + TfFrame("") + TfFrame("0123456789");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Reading reading = ReadBytes(bytes.substr(0, size));
    const bool whole = size == 0 || size == 19 || size == 35;
    EXPECT_EQ(reading.end.code(), whole ? StatusCode::kOk : StatusCode::kDataLoss) << size;
  }
  EXPECT_EQ(ReadBytes(bytes).records, (std::vector<std::string>{"abc", "", "0123456789"}));
}

TEST(FrameReader, WhenABitFlips_IsNoticed) {
  const std::string bytes = TfFrame("abc") + TfFrame("0123456789");
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(ReadBytes(damaged).end.code(), StatusCode::kDataLoss) << bit;
  }
}

TEST(FrameReader, WhenARecordIsTooLong_IsRefusedBeforeItIsRead) {
  const std::uint64_t most = std::uint64_t{64} << 20;
  const Reading reading = ReadBytes(TfFrame("x") + TfFrame("y", most + 1));
  EXPECT_EQ(reading.end.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(reading.end.message(), "f: record 2 at byte 17: the record is longer than 64 MiB");
  EXPECT_EQ(ReadBytes(TfFrame("y", ~std::uint64_t{0})).end.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadBytes(TfFrame("y", most)).end.code(), StatusCode::kDataLoss);
}

TEST(FrameReader, WhenOpenedAtAPosition_GoesOnThere) {
  Result<FrameReader> frames =
      FrameReader::Open({"plain.tfrecord", GoldenPath("tfrecord/plain.tfrecord")}, {141, 3});
  ASSERT_TRUE(frames.ok());
  const Reading reading = ReadAll(*frames);
  ASSERT_EQ(reading.records.size(), 7U);
  EXPECT_EQ(reading.records[0].size(), 118U);
  EXPECT_EQ(reading.places[1], (NumberedOffset{275, 4}));
}

}  // namespace
}  // namespace pstrain
