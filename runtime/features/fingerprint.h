#pragma once

#include <cstdint>
#include <string_view>

namespace pstrain {

/// The hashes of texts and of crosses, as TensorFlow's. Pure; any thread.

/// farmhash Fingerprint64: what tf.strings.to_hash_bucket_fast takes modulo the buckets.
std::uint64_t Fingerprint(std::string_view text);

/// Starting value of a chain of CombineFingerprints (tf.sparse.cross_hashed without a key).
inline constexpr std::uint64_t kFingerprintSeed = 0xDECAFCAFFEULL;

/// Mixes one more fingerprint into a chain: the FingerprintCat64 of TensorFlow's crosses, checked
/// against its results in tests/golden/hashing.json.
std::uint64_t CombineFingerprints(std::uint64_t chain, std::uint64_t next);

}  // namespace pstrain
