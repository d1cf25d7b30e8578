#include "runtime/rpc/system_resolver.h"

#include <cstdlib>

namespace pstrain {

void UseSystemResolver() { setenv("GRPC_DNS_RESOLVER", "native", /*overwrite=*/0); }

}  // namespace pstrain
