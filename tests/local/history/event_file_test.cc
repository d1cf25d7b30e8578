#include "local/history/event_file.h"

#include <gtest/gtest.h>

#include "base/os/files.h"
#include "local/history/event.pb.h"

namespace pstrain::local {
namespace {

TEST(TfRecordOf, FramesAsTensorFlowDoes) {
  // tf.io.TFRecordWriter("f").write(b"abc")
  EXPECT_EQ(TfRecordOf("abc"),
            std::string("\x03\0\0\0\0\0\0\0\xb0\x99\x49\x0e\x61\x62\x63\x6e\x57\xf1\x21", 19));
}

TEST(EventFile, HasItsVersionThenAnEventForEachPoint) {
  const TempDir dir;
  const auto file = EventFile::Create(dir.File("tb"), "run");
  ASSERT_TRUE(file.ok()) << file.status().message();
  HistoryPoint point;
  point.steps = 7;
  point.epoch = 1.5;
  point.loss = 0.25;
  (*file)->Add(point);
  HistoryPoint event;
  event.kind = PointKind::kEvent;
  (*file)->Add(event);
  ASSERT_TRUE((*file)->Problem().ok());
  const auto names = ListDirectory(dir.File("tb/run"));
  ASSERT_TRUE(names.ok());
  ASSERT_EQ(names->size(), 1U);
  EXPECT_TRUE(names->front().starts_with("events.out.tfevents."));
  const std::string bytes = *ReadFile(dir.File("tb/run/" + names->front()));
  std::vector<tensorboard::Event> events;
  constexpr std::size_t kHead = 12;
  constexpr std::size_t kTail = 4;
  for (std::size_t at = 0; at + kHead < bytes.size();) {
    const auto size = static_cast<std::size_t>(static_cast<unsigned char>(bytes[at]));
    const std::string data = bytes.substr(at + kHead, size);
    EXPECT_EQ(bytes.substr(at, kHead + size + kTail), TfRecordOf(data));
    ASSERT_TRUE(events.emplace_back().ParseFromString(data));
    at += kHead + size + kTail;
  }
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_EQ(events[1].step(), 7);
  ASSERT_EQ(events[1].summary().value_size(), 2);
  EXPECT_EQ(events[1].summary().value(0).tag(), "loss");
  EXPECT_EQ(events[1].summary().value(0).simple_value(), 0.25F);
}

}  // namespace
}  // namespace pstrain::local
