#pragma once

#include <chrono>

namespace pstrain {

/// Settings that both ends of a gRPC connection share. Sizes in bytes. The HTTP/2 sizes are what
/// large bodies need on a loopback or data-centre link: gRPC's own start at 16 and 64 KiB.
inline constexpr int kHttp2FrameSize = 8 << 20;
inline constexpr int kHttp2WriteBufferSize = 8 << 20;
inline constexpr int kHttp2LookaheadSize = 16 << 20;
/// At the beginning of a connection; gRPC adapts it. It is read in pieces of 64 KiB, and of a TLS
/// handshake that fails gRPC 1.51 forgets the list of pieces where there are more than 8: anybody
/// could make a server grow.
inline constexpr int kTcpReadChunkSize = 512 << 10;
inline constexpr int kTcpMaxReadChunkSize = 4 << 20;

/// A peer that answers no ping for kKeepaliveTimeout after kKeepaliveTime of silence is gone.
inline constexpr std::chrono::milliseconds kKeepaliveTime{10'000};
inline constexpr std::chrono::milliseconds kKeepaliveTimeout{5'000};
/// Pings more often than this make a server drop the client; less than kKeepaliveTime.
inline constexpr std::chrono::milliseconds kMinPingInterval{5'000};

/// Of a server. gRPC 1.51 holds a peer to both once it has acknowledged the settings that say so.
/// Calls of one connection at a time; a peer of ours has a few.
inline constexpr int kMostStreamsOfAConnection = 64;
/// Headers of one call.
inline constexpr int kMostMetadataBytes = 16 << 10;

}  // namespace pstrain
