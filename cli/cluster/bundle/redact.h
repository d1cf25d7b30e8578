#pragma once

#include "base/text/json.h"

namespace pstrain::cluster {

/// Takes out of an object of the apiserver what may be secret, at any depth: the values of
/// variables (`env: [{name, value}]`), the copy of the object that `kubectl apply` keeps as an
/// annotation, and the data of a Secret. managedFields go too: they say nothing here. Pure; any
/// thread.
Json Redacted(const Json& object);

}  // namespace pstrain::cluster
