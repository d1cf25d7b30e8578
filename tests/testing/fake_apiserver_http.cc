#include "tests/testing/fake_apiserver_http.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace pstrain::testing {
namespace {

void WriteChunks(HttpServerConnection& connection, std::string_view bytes, std::size_t size) {
  if (size == 0) size = bytes.size();
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, size);
    if (!connection.Chunk(piece)) return;
    bytes.remove_prefix(piece.size());
  }
}

void SendReply(HttpServerConnection& connection, const FakeReply& reply, const FakeWire& wire) {
  if (wire.chunk_bytes > 0 && reply.status == 200) {
    connection.BeginChunks(reply.status);
    WriteChunks(connection, reply.body, wire.chunk_bytes);
    connection.EndChunks();
    return;
  }
  std::vector<std::pair<std::string, std::string>> headers;
  if (reply.retry_after) headers.emplace_back("Retry-After", std::to_string(*reply.retry_after));
  connection.Reply(reply.status, reply.body, headers);
}

void ServeWatch(FakeApiserver& server, const FakeRequest& request, HttpServerConnection& connection,
                const FakeWire& wire) {
  const int bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  FakeReply refusal;
  {
    const auto watch = server.OpenWatch(
        request,
        [bell] {
          const std::uint64_t one = 1;
          [[maybe_unused]] const auto rung = ::write(bell, &one, sizeof one);
        },
        refusal);
    if (!watch) {
      SendReply(connection, refusal, wire);
    } else {
      connection.BeginChunks(200);
      while (true) {
        const FakeApiserver::Watch::Lines news = watch->Poll();
        for (const std::string& line : news.lines) {
          WriteChunks(connection, line + "\n", wire.chunk_bytes);
        }
        if (news.ended) {
          connection.EndChunks();
          break;
        }
        if (connection.WaitEnded(bell)) break;
        std::uint64_t rings = 0;
        [[maybe_unused]] const auto heard = ::read(bell, &rings, sizeof rings);
      }
    }
  }
  ::close(bell);
}

}  // namespace

HttpServerHandler ServeApi(FakeApiserver& server, FakeWire wire) {
  return [&server, wire](const HttpServerRequest& http, HttpServerConnection& connection) {
    const auto type = http.headers.find("content-type");
    const FakeRequest request{http.method, http.target,
                              type == http.headers.end() ? "" : type->second, http.body};
    if (FakeApiserver::IsWatch(request)) {
      ServeWatch(server, request, connection, wire);
    } else {
      SendReply(connection, server.Handle(request), wire);
    }
  };
}

}  // namespace pstrain::testing
