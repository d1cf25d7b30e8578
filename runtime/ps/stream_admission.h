#pragma once

#include "runtime/rpc/identity/caller.h"
#include "runtime/rpc/serve_options.h"

namespace pstrain {

/// Who may open a stream of a ps' data plane, and what it may carry: workers pull and push, other
/// ps fetch shards that move to them. The token is read when the stream is opened, and its time is
/// looked at with each request: a stream that outlives it ends, and its peer opens the next one
/// with a newer token. Null, which admits anybody, without a verifier; it outlives the admission
/// and what that returns. Any thread.
///
/// Errors: those of VerifyBearer; UNAVAILABLE once the token has expired; PERMISSION_DENIED for
/// another role or op.
StreamAdmission AdmitStreams(CallerVerifier* verifier);

}  // namespace pstrain
