#pragma once

#include <string>

#include "crds/descriptions.h"

namespace pstrain {

/// The reference of PSTrainingJob for its users, as Markdown: every field with type, default and
/// bounds, every rule with its message, and what a refusal says. Fields that are for tests only are
/// left out. Pure; any thread.
std::string WriteReference(const Descriptions& descriptions);

}  // namespace pstrain
