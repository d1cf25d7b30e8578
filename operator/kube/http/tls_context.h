#pragma once

#include <openssl/ssl.h>

#include "base/status.h"
#include "operator/kube/http/credentials.h"

namespace pstrain::kube {

/// Makes a fresh TLS context trust exactly `material.ca`, whatever it trusted before, and present
/// the client certificate if there is one. Without a CA it trusts the directory of certificates
/// that OpenSSL was built for. INVALID_ARGUMENT names what is not PEM; the context then trusts
/// nothing, so that no connection can come about. One thread at a time for one context.
Status ConfigureTls(SSL_CTX* context, const TlsMaterial& material);

/// Makes the context trust nothing.
void TrustNothing(SSL_CTX* context);

}  // namespace pstrain::kube
