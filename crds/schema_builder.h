#pragma once

#include <google/protobuf/descriptor.h>

#include "base/text/json.h"
#include "crds/descriptions.h"

namespace pstrain {

/// The structural schema (Kubernetes, "Extend the API with CustomResourceDefinitions") of a message
/// of psjob.proto: types, defaults, bounds, enums, list types, and as x-kubernetes-validations the
/// rules and one rule for each oneof. Fields that are for tests only are left out. Pure; any
/// thread. REQUIRES: no message holds itself.
Json BuildSchema(const google::protobuf::Descriptor& message, const Descriptions& descriptions);

/// The schema of one field of it.
Json BuildFieldSchema(const google::protobuf::FieldDescriptor& descriptor,
                      const Descriptions& descriptions);

}  // namespace pstrain
