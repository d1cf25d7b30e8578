#pragma once

#include <string>
#include <string_view>

#include "base/text/json.h"
#include "tests/testing/fake_apiserver.h"

namespace pstrain::testing {

/// metadata of an object, made when absent.
Json& Metadata(Json& object);
/// A text in an object's metadata; "" when absent.
std::string MetaText(const Json& object, std::string_view name);
/// The object is in the namespace of the request and fits its label selector (a=b,c=d).
bool Selected(const FakeTarget& target, const Json& object);
/// Applies a merge patch, RFC 7386.
void MergePatch(Json& target, const Json& patch);

}  // namespace pstrain::testing
