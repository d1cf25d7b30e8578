#pragma once

#include <string>

#include "base/text/json.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// The owner reference that every object of a job carries: controller and blockOwnerDeletion, so
/// that foreground deletion waits for them. Pure; any thread, as the next one.
Json OwnerReferences(const PSTrainingJob& job);

/// metadata of an object of the job: name, namespace, our labels and the owner.
Json OwnedObjectMetadata(const PSTrainingJob& job, const std::string& name);

}  // namespace pstrain::job
