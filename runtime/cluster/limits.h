#pragma once

#include <chrono>
#include <cstdint>

namespace pstrain {

/// Bounds of what one peer may ask of another, generous for peers that keep to the protocol: who
/// goes beyond them does not. Both ends know them.

/// Most work ids with one worker, and most reports in one poll.
inline constexpr std::uint32_t kMostInFlight = 128;
/// Most replicas of a role: the maximum of spec.replicaSpecs.*.replicas (proto/job/psjob.proto).
inline constexpr std::uint32_t kMostReplicas = 10'000;
/// An address, a metric's name.
inline constexpr std::uint32_t kMostNameBytes = 512;
/// Digests of its job that a replica shows (proto/job/fixed_fields.h): one of each feature, of
/// which a job has at most 1,024, and some more.
inline constexpr std::uint32_t kMostDigests = 2048;
/// The text of an error that a peer reports.
inline constexpr std::uint32_t kMostTextBytes = 64 << 10;
/// Of what a function of a program returns, as it travels with its report; and of all results in
/// one poll, so that it has room in the least bound of a poll (MessageBounds).
inline constexpr std::uint32_t kMostResultBytes = 1 << 20;
/// Of what an attempt of an atomic function comes to (PreparedCall.outcome), and of all of them in
/// one poll.
inline constexpr std::uint32_t kMostPreparedBytes = 64 << 10;
inline constexpr std::uint32_t kMostPreparedInPoll = 1 << 20;

/// An attempt of a replica may be this far above the last one that is known, and one more for each
/// second since: a replica is not started again faster than that for long.
inline constexpr std::uint32_t kAttemptsAhead = 8;
/// The same where none is known yet: those before may have ended before they could speak.
inline constexpr std::uint32_t kAttemptsBeforeTheFirst = 64;

}  // namespace pstrain
