#include "operator/job/act/name_conflict.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pstrain::job {
namespace {

std::vector<JobState::ConflictingObject> Pods(int count) {
  std::vector<JobState::ConflictingObject> pods;
  for (int i = 0; i < count; ++i) {
    pods.push_back({.kind = "Pod", .key = {.name_space = "ml", .name = "p-" + std::to_string(i)}});
  }
  return pods;
}

TEST(NameConflict, NoObject_IsNoConflict) { EXPECT_FALSE(NameConflictOf({}).has_value()); }

TEST(NameConflict, Objects_AreNamedUpToThree) {
  const std::string end =
      " exist and do not belong to this job; delete them or give the job another name";
  EXPECT_EQ(
      NameConflictOf(Pods(1)),
      "Pod p-0 exists and does not belong to this job; delete it or give the job another name");
  EXPECT_EQ(NameConflictOf(Pods(2)), "Pod p-0 and Pod p-1" + end);
  EXPECT_EQ(NameConflictOf(Pods(3)), "Pod p-0, Pod p-1 and Pod p-2" + end);
  EXPECT_EQ(NameConflictOf(Pods(5)), "Pod p-0, Pod p-1, Pod p-2 and 2 more" + end);
}

}  // namespace
}  // namespace pstrain::job
