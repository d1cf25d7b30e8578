#include "cli/init/label_choice.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "local/preflight/texts.h"
#include "runtime/features/number.h"

namespace pstrain {
namespace {

using preflight::Listed;
using preflight::Quoted;

/// Different labels that a map may have: beyond that they are no classes.
constexpr std::size_t kMostLabels = 100;
constexpr std::size_t kLabelsNamed = 12;

/// What people write for the class that is looked for.
constexpr std::array<std::string_view, 14> kPositiveTexts = {
    "1", "yes",       "y",    "true",  "t",     "positive", "pos",
    "+", "malignant", "spam", "churn", "click", "bad",      "fraud"};

bool IsPositive(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kPositiveTexts.begin(), kPositiveTexts.end(), text) != kPositiveTexts.end();
}

/// Numbers by size, texts by their bytes.
std::vector<std::string> Ordered(const ColumnProfile& label) {
  std::vector<std::string> texts = label.ByFrequency();
  const bool numbers = label.AllNumbers();
  std::sort(texts.begin(), texts.end(), [numbers](const std::string& a, const std::string& b) {
    return numbers ? *ParseNumber(a) < *ParseNumber(b) : a < b;
  });
  return texts;
}

std::string Named(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted(texts.size());
  std::transform(texts.begin(), texts.end(), quoted.begin(), Quoted);
  return Listed(quoted, kLabelsNamed);
}

Result<LabelChoice> Divide(const ColumnProfile& label, const std::vector<std::string>& texts,
                           const std::vector<std::string>& positive) {
  for (const std::string& text : positive) {
    if (label.texts().contains(text)) continue;
    return InvalidArgumentError("--positive " + text + ": column " + label.name() +
                                " has no such label" + preflight::DidYouMean(text, texts) +
                                "; it has " + Named(texts));
  }
  LabelChoice choice;
  std::size_t ones = 0;
  for (const std::string& text : texts) {
    const bool one = std::find(positive.begin(), positive.end(), text) != positive.end();
    choice.map.emplace_back(text, one ? 1 : 0);
    ones += one ? 1 : 0;
  }
  if (ones == texts.size()) {
    return InvalidArgumentError("--positive: all labels of column " + label.name() +
                                " would count as 1; one at least must count as 0");
  }
  choice.reason = "Those of --positive count as 1, all others as 0.";
  return choice;
}

/// Of two texts, which is 1.
LabelChoice MapTwo(const ColumnProfile& label, const std::vector<std::string>& texts) {
  LabelChoice choice;
  const bool first_known = IsPositive(texts[0]);
  std::size_t one = 1;
  if (label.AllNumbers()) {
    choice.reason = "Two numbers: the larger one counts as 1.";
  } else if (first_known != IsPositive(texts[1])) {
    one = first_known ? 0 : 1;
    choice.reason = "Two texts: " + Quoted(texts[one]) + " counts as 1 by its meaning.";
  } else {
    one = label.texts().at(texts[0]) < label.texts().at(texts[1]) ? 0 : 1;
    choice.reason = "Two texts: the rarer one counts as 1.";
  }
  choice.reason += " Swap 0 and 1 for the other.";
  choice.map = {{texts[0], one == 0 ? 1 : 0}, {texts[1], one == 1 ? 1 : 0}};
  return choice;
}

}  // namespace

Result<LabelChoice> ChooseLabel(const ColumnProfile& label, const InitOptions& options) {
  const std::vector<std::string> texts = Ordered(label);
  if (texts.size() < 2) {
    return InvalidArgumentError("--label " + label.name() + ": all records have the label " +
                                Quoted(texts.empty() ? std::string() : texts.front()) +
                                "; nothing can be learnt from one class");
  }
  if (texts.size() > kMostLabels && (!label.AllNumbers() || label.min() < 0 || label.max() > 1)) {
    return InvalidArgumentError("--label " + label.name() + ": the column has " +
                                std::to_string(texts.size()) +
                                " different values; a model says how likely one of two classes "
                                "is, so make a column of two values of it");
  }
  if (!options.positive.empty()) return Divide(label, texts, options.positive);
  if (label.AllNumbers() && label.min() >= 0 && label.max() <= 1) {
    return LabelChoice{{},
                       texts.size() == 2 && label.AllIntegers()
                           ? std::string("The labels are 0 and 1.")
                           : std::string("The labels are numbers from 0 to 1.")};
  }
  if (texts.size() == 2) return MapTwo(label, texts);
  return InvalidArgumentError("--label " + label.name() + ": the column has " +
                              std::to_string(texts.size()) + " different labels, " + Named(texts) +
                              "; a model says how likely one of two classes is, so name those "
                              "that count as 1: --positive " +
                              Quoted(texts.back()));
}

}  // namespace pstrain
