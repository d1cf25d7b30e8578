#pragma once

/// All of libpstrain but what needs other libraries.
#include <pstrain/coordinator.h>
#include <pstrain/deadline.h>
#include <pstrain/dtype.h>
#include <pstrain/function.h>
#include <pstrain/initializers.h>
#include <pstrain/optimizers.h>
#include <pstrain/program.h>
#include <pstrain/remote_value.h>
#include <pstrain/shape.h>
#include <pstrain/status.h>
#include <pstrain/step.h>
#include <pstrain/strategy.h>
#include <pstrain/tensor.h>
#include <pstrain/values.h>
#include <pstrain/variable.h>
