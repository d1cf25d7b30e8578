#pragma once

#include <cstddef>
#include <string>

#include "tests/testing/fake_apiserver.h"
#include "tests/testing/tls_http_server.h"

namespace pstrain::testing {

/// How the front writes what it sends.
struct FakeWire {
  std::size_t chunk_bytes = 0;  // of watches and lists; 0: a line or the whole body in one
};

/// Answers the requests of a TlsHttpServer by a FakeApiserver, which it does not own.
HttpServerHandler ServeApi(FakeApiserver& server, FakeWire wire = {});

}  // namespace pstrain::testing
