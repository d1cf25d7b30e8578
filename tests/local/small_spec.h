#pragma once

#include "proto/job/psjob.pb.h"

namespace pstrain::local {

/// One chief, two ps and one worker.
inline JobSpec SmallSpec() {
  JobSpec spec;
  spec.mutable_replica_specs()->mutable_chief()->set_replicas(1);
  spec.mutable_replica_specs()->mutable_ps()->set_replicas(2);
  spec.mutable_replica_specs()->mutable_worker()->set_replicas(1);
  return spec;
}

}  // namespace pstrain::local
