#pragma once

#include <cstdint>
#include <string>

#include "tests/testing/test_certificates.h"

namespace pstrain::testing {

/// The newest version of TLS that a client speaks.
enum class TlsVersion : std::uint8_t { k11, k12, k13 };

/// How a handshake has ended.
struct TlsHandshake {
  /// The version that both have agreed on, as OpenSSL names it; empty: none.
  std::string version;
  /// Why there was none; empty: there is one. A server need not say why it refuses.
  std::string error;
  /// The client has made its offer: it was not itself that would not.
  bool offered = false;
};

/// One handshake with a server of this machine, as a client that would speak every version from TLS
/// 1.0 on, by ciphers and keys of any strength, and that looks at no certificate. Blocks, 30 s at
/// most.
TlsHandshake ShakeHands(std::uint16_t port, const TestCertificate& own, TlsVersion newest);

}  // namespace pstrain::testing
