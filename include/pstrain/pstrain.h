#pragma once

/// All of libpstrain but what needs other libraries.
#include <pstrain/cluster_resolver.h>
#include <pstrain/cluster_spec.h>
#include <pstrain/coordinator.h>
#include <pstrain/deadline.h>
#include <pstrain/distributed_values.h>
#include <pstrain/dlpack.h>
#include <pstrain/dtype.h>
#include <pstrain/function.h>
#include <pstrain/initializers.h>
#include <pstrain/optimizers.h>
#include <pstrain/partitioners.h>
#include <pstrain/program.h>
#include <pstrain/remote_value.h>
#include <pstrain/shape.h>
#include <pstrain/status.h>
#include <pstrain/step.h>
#include <pstrain/strategy.h>
#include <pstrain/tensor.h>
#include <pstrain/values.h>
#include <pstrain/variable.h>
