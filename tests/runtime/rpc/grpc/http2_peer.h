#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/os/unique_fd.h"

namespace pstrain {

/// A client of HTTP/2 (RFC 9113) that is none of ours: it keeps to no bound that a server asks it
/// to keep. Connects without TLS to a port of this machine. What reads blocks, 30 s at most. One
/// thread.
class Http2Peer {
 public:
  explicit Http2Peer(std::uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit{.tv_sec = 30, .tv_usec = 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }

  /// Whether the server takes the connection: then it sends its settings. REQUIRES: nothing was
  /// read.
  bool Greeted() { return ReadFrame().has_value(); }

  /// The first bytes of a client, which say what it speaks, but no frame.
  void SendPreface() { Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); }
  /// All that comes before the first call; the server's settings are acknowledged.
  void Begin() {
    SendPreface();
    SendFrame(kSettings, 0, 0, "");
    std::optional<Received> frame = ReadFrame();
    while (frame && (frame->type != kSettings || frame->flags == kAck)) frame = ReadFrame();
    EXPECT_TRUE(frame.has_value()) << "the server has no settings";
    SendFrame(kSettings, kAck, 0, "");
  }

  /// Opens a call without its message, with a header of so many bytes more.
  void Open(std::uint32_t stream, std::string_view path, std::size_t more = 0) {
    // The numbers of HPACK's static table (RFC 7541, appendix A): :method POST, :scheme http.
    std::string headers = "\x83\x86";
    headers += Literal(":path", path) + Literal(":authority", "peer") +
               Literal("content-type", "application/grpc") + Literal("te", "trailers");
    if (more > 0) headers += Literal("more", std::string(more, 'x'));
    constexpr std::uint8_t kEndHeaders = 4;
    SendFrame(kHeaders, kEndHeaders, stream, headers);
  }

  /// The server has read what was sent, and keeps the connection.
  bool Alive() {
    SendFrame(kPing, 0, 0, std::string(8, 'p'));
    while (const std::optional<Received> frame = ReadFrame()) {
      if (frame->type == kPing && frame->flags == kAck) return true;
    }
    return false;
  }

  /// Reads on until the server ends the connection; false when it does not.
  bool Closed() {
    while (ReadFrame()) {
    }
    return ended_;
  }

 private:
  static constexpr std::uint8_t kHeaders = 1;
  static constexpr std::uint8_t kSettings = 4;
  static constexpr std::uint8_t kPing = 6;
  static constexpr std::uint8_t kAck = 1;
  static constexpr std::size_t kFrameHeader = 9;

  struct Received {
    std::uint8_t type = 0;
    std::uint8_t flags = 0;
  };

  /// A number whose first byte has `bits` for it (RFC 7541, section 5.1).
  static std::string Number(std::size_t value, unsigned bits) {
    const std::size_t most = (std::size_t{1} << bits) - 1;
    if (value < most) return {static_cast<char>(value)};
    std::string bytes = {static_cast<char>(most)};
    for (value -= most; value >= 128; value /= 128) {
      bytes += static_cast<char>(128 + value % 128);
    }
    return bytes + static_cast<char>(value);
  }
  static std::string Text(std::string_view text) {
    return Number(text.size(), 7) + std::string(text);
  }
  /// A header that no table has and none is to take.
  static std::string Literal(std::string_view name, std::string_view value) {
    return std::string(1, '\0') + Text(name) + Text(value);
  }

  void SendFrame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                 const std::string& payload) {
    std::string frame;
    for (const unsigned shift : {16U, 8U, 0U}) {
      frame += static_cast<char>((payload.size() >> shift) & 0xff);
    }
    frame += static_cast<char>(type);
    frame += static_cast<char>(flags);
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
      frame += static_cast<char>((stream >> shift) & 0xff);
    }
    Send(frame + payload);
  }
  /// What a server that has gone does not get is seen by who reads.
  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  std::optional<Received> ReadFrame() {
    const std::string header = Read(kFrameHeader);
    if (header.size() < kFrameHeader) return std::nullopt;
    const auto byte = [&header](std::size_t i) { return static_cast<std::uint8_t>(header[i]); };
    const std::size_t size =
        std::size_t{byte(0)} << 16 | std::size_t{byte(1)} << 8 | std::size_t{byte(2)};
    if (Read(size).size() < size) return std::nullopt;
    return Received{byte(3), byte(4)};
  }
  std::string Read(std::size_t size) {
    std::string bytes(size, '\0');
    std::size_t done = 0;
    while (done < size) {
      const ssize_t count = recv(fd_.get(), bytes.data() + done, size - done, 0);
      if (count <= 0) {
        ended_ = count == 0 || errno == ECONNRESET;
        break;
      }
      done += static_cast<std::size_t>(count);
    }
    bytes.resize(done);
    return bytes;
  }

  UniqueFd fd_;
  bool ended_ = false;
};

}  // namespace pstrain
