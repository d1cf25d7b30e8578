#include "crds/transition_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "proto/job/fixed_fields.h"

namespace pstrain {
namespace {

std::string Member(const Json& rule, std::string_view name) {
  const Json* text = rule.Find(name);
  return text == nullptr || text->AsString() == nullptr ? "" : *text->AsString();
}

/// The rule that stands at the field of the path, or above it; null where none does.
const Json* RuleAbove(const Json& rules, const std::string& path) {
  for (const Json& rule : rules.items()) {
    const std::string place = Member(rule, "fieldPath");
    if (("." + path + ".").starts_with(place + ".")) return &rule;
  }
  return nullptr;
}

bool IsRefused(const FieldChange& change) {
  return change.effect == ChangeEffect::kFixed || change.effect == ChangeEffect::kWhileSuspended;
}

// The table "What may change" of docs/reference/pstrainingjob.md is made of ChangesOfSpec.
TEST(TransitionRules, OfEachFieldThatTheTableRefuses_CompareItAndSayTheSame) {
  const Json rules = TransitionRules();
  int refused = 0;
  for (const FieldChange& change : ChangesOfSpec().fields) {
    if (!IsRefused(change)) continue;
    ++refused;
    const Json* rule = RuleAbove(rules, change.path);
    ASSERT_NE(rule, nullptr) << change.path;
    EXPECT_EQ(Member(*rule, "message"), change.message) << change.path;
    EXPECT_NE(Member(*rule, "rule").find("self." + change.path), std::string::npos)
        << change.path << ": " << Member(*rule, "rule");
    EXPECT_EQ(Member(*rule, "rule").find("oldSelf.status.phase") != std::string::npos,
              change.effect == ChangeEffect::kWhileSuspended)
        << change.path;
  }
  EXPECT_GE(refused, 10);
}

TEST(TransitionRules, OfEachFieldThatTheTableAllows_CompareNothing) {
  const Json rules = TransitionRules();
  for (const FieldChange& change : ChangesOfSpec().fields) {
    if (IsRefused(change)) continue;
    for (const Json& rule : rules.items()) {
      EXPECT_EQ(Member(rule, "rule").find("oldSelf." + change.path + " "), std::string::npos)
          << change.path << ": " << Member(rule, "rule");
    }
  }
}

TEST(TransitionRules, EachOne_IsARowOfTheTable) {
  const Json rules = TransitionRules();
  EXPECT_GE(rules.items().size(), 5U);
  for (const Json& rule : rules.items()) {
    const std::string place = Member(rule, "fieldPath");
    EXPECT_TRUE(std::ranges::any_of(ChangesOfSpec().fields, [&](const FieldChange& change) {
      return ("." + change.path + ".").starts_with(place + ".") && IsRefused(change) &&
             change.message == Member(rule, "message");
    })) << place;
  }
}

}  // namespace
}  // namespace pstrain
