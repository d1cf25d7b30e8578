#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"
#include "operator/kube/http/cpprest_transport.h"
#include "tests/operator/kube/http/transport_fixture.h"

namespace pstrain::kube {
namespace {

using pstrain::testing::HttpServerConnection;
using pstrain::testing::HttpServerRequest;

TEST(CpprestTransport, Stream_WhenChunksSplitAnywhere_DeliversAllBytesInOrder) {
  TransportFixture fixture([](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.BeginChunks(200);
    for (const char* piece : {"{\"a\"", ":", "1}\n{", "\"b\":2}", "\n"}) connection.Chunk(piece);
    connection.EndChunks();
  });
  CollectingSink sink;
  const auto reply = fixture.transport().Stream({.target = "/watch"}, sink, {});
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(sink.text(), "{\"a\":1}\n{\"b\":2}\n");
  EXPECT_EQ(reply->body, "");
}

TEST(CpprestTransport, Stream_WhenRefused_CollectsTheBody) {
  TransportFixture fixture([](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.Reply(410, "gone");
  });
  CollectingSink sink;
  const auto reply = fixture.transport().Stream({.target = "/watch"}, sink, {});
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->status, 410);
  EXPECT_EQ(reply->body, "gone");
  EXPECT_EQ(sink.text(), "");
}

TEST(CpprestTransport, Stream_WhenStopped_ClosesTheConnection) {
  TransportFixture fixture([](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.BeginChunks(200);
    connection.Chunk("event\n");
    connection.WaitEnded(-1);
  });
  CollectingSink sink;
  std::stop_source stop;
  Result<HttpReply> reply = InternalError("not called");
  std::jthread reader(
      [&] { reply = fixture.transport().Stream({.target = "/w"}, sink, stop.get_token()); });
  ASSERT_TRUE(sink.WaitForBytes(6));
  stop.request_stop();
  reader.join();
  EXPECT_EQ(reply.status().code(), StatusCode::kCancelled);
  EXPECT_TRUE(fixture.server().WaitForOpenConnections(0));
}

TEST(CpprestTransport, Stream_WhenSilent_EndsAtTheIdleLimit) {
  TransportFixture fixture(
      [](const HttpServerRequest&, HttpServerConnection& connection) {
        connection.BeginChunks(200);
        connection.WaitEnded(-1);
      },
      {.stream_idle_limit = std::chrono::seconds(1)});
  CollectingSink sink;
  const auto reply = fixture.transport().Stream({.target = "/w"}, sink, {});
  EXPECT_EQ(reply.status().code(), StatusCode::kDeadlineExceeded);
}

/// Fails at the first byte.
class RefusingSink final : public ByteSink {
 public:
  Status Write(std::string_view) override { return DataLossError("malformed"); }
};

TEST(CpprestTransport, Stream_WhenTheSinkFails_ReturnsItsErrorAndClosesTheConnection) {
  TransportFixture fixture([](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.BeginChunks(200);
    connection.Chunk("x");
    connection.WaitEnded(-1);
  });
  RefusingSink sink;
  const auto reply = fixture.transport().Stream({.target = "/w"}, sink, {});
  EXPECT_EQ(reply.status().code(), StatusCode::kDataLoss);
  EXPECT_TRUE(fixture.server().WaitForOpenConnections(0));
}

/// Holds the reader until it is let go.
class SlowSink final : public ByteSink {
 public:
  Status Write(std::string_view bytes) override {
    const MutexLock lock(mutex_);
    bytes_ += bytes.size();
    while (!open_) changed_.Wait(mutex_);
    return OkStatus();
  }
  void Open() {
    const MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }
  std::size_t bytes() const {
    const MutexLock lock(mutex_);
    return bytes_;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  bool open_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::size_t bytes_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

TEST(CpprestTransport, Stream_WhenTheReaderIsSlow_TheServerHasToWait) {
  constexpr std::size_t kPiece = 64U << 10;
  constexpr std::size_t kPieces = 2048;  // 128 MiB
  constexpr std::size_t kBound = 32U << 20;
  SlowSink sink;
  std::size_t sent_before_stall = 0;
  TransportFixture fixture([&](const HttpServerRequest&, HttpServerConnection& connection) {
    connection.BeginChunks(200);
    bool stalled = false;
    for (std::size_t piece = 0; piece < kPieces; ++piece) {
      if (!stalled && !connection.WaitForRoom(500)) {
        stalled = true;
        sent_before_stall = piece * kPiece;
        sink.Open();
      }
      if (!connection.Chunk(std::string(kPiece, 'x'))) return;
    }
    connection.EndChunks();
    sink.Open();
  });
  const auto reply = fixture.transport().Stream({.target = "/w"}, sink, {});
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_GT(sent_before_stall, 0U) << "everything was taken though nobody read";
  EXPECT_LT(sent_before_stall, kBound);
  EXPECT_EQ(sink.bytes(), kPieces * kPiece);
}
}  // namespace
}  // namespace pstrain::kube
