#include "operator/job/act/name_conflict.h"

#include <algorithm>
#include <cstddef>

namespace pstrain::job {
namespace {

/// A job of a thousand pods can lack a thousand names.
constexpr std::size_t kMostNamed = 3;

}  // namespace

std::optional<std::string> NameConflictOf(const std::vector<JobState::ConflictingObject>& objects) {
  if (objects.empty()) return std::nullopt;
  const std::size_t named = std::min(objects.size(), kMostNamed);
  const std::size_t more = objects.size() - named;
  std::string text;
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) text += i + 1 == named && more == 0 ? " and " : ", ";
    text += objects[i].kind + " " + objects[i].key.name;
  }
  if (more > 0) text += " and " + std::to_string(more) + " more";
  const bool one = objects.size() == 1;
  return text + (one ? " exists and does not belong" : " exist and do not belong") +
         " to this job; delete " + (one ? "it" : "them") + " or give the job another name";
}

}  // namespace pstrain::job
