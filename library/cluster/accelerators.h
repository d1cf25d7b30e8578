#pragma once

#include <string>

#include "base/status.h"

namespace pstrain {

/// GPUs of NVIDIA that this process may use: the device files nvidia0, nvidia1, ... in the folder
/// `devices`, /dev. Of those `visible` leaves what CUDA would: all where it is null, else the
/// devices that it lists by number or by name (GPU-..., MIG-...), up to the first entry that is
/// neither. No driver is asked, so that a name is taken for a device. The error of reading the
/// folder. Pure but for that; any thread.
Result<int> CountGpus(const std::string& devices, const char* visible);

/// The same of this machine and CUDA_VISIBLE_DEVICES.
Result<int> CountGpusHere();

}  // namespace pstrain
