#include "cli/init/feature_choice.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdio>
#include <string_view>
#include <utility>

namespace pstrain {
namespace {

/// As the rules of Training and Feature.
constexpr std::size_t kMostFeatures = 1024;
constexpr std::size_t kLongestName = 128;
/// Up to so many different texts are listed; a longer list is hashed.
constexpr std::size_t kMostListed = 64;
/// A longer text is hashed too.
constexpr std::size_t kLongestListed = 100;
/// Integers with fewer different values are names of categories.
constexpr std::size_t kFewIntegers = 12;
/// Records that each value must have on average before a text is more than a name of its record.
constexpr std::uint64_t kRecordsPerValue = 2;
/// Below that nothing can be said about how often values come.
constexpr std::uint64_t kFewRecords = 50;
/// Beyond this skewness one end reaches so far out that few records would decide everything.
constexpr double kLongTail = 4.0;
constexpr std::int64_t kMostBuckets = std::int64_t{1} << 22;

std::string Short(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", number);
  return text.data();
}

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// "user_id", "ID", "itemId": numbers that name something.
bool IsNameOfId(const std::string& name) {
  if (name.size() < 2) return false;
  const std::string_view end = std::string_view(name).substr(name.size() - 2);
  const char before = name.size() > 2 ? name[name.size() - 3] : '_';
  const bool word = std::isalnum(static_cast<unsigned char>(before)) == 0;
  if (end == "Id" || end == "ID") return word || std::islower(static_cast<unsigned char>(before));
  return word && (end == "id" || end == "iD");
}

int EmbeddingOf(std::size_t values) {
  constexpr std::size_t kFew = 8;
  constexpr std::size_t kMany = 1000;
  return values <= kFew ? 4 : values <= kMany ? 8 : 16;
}

void Categorize(const ColumnProfile& column, const std::string& what, FeatureChoice& choice) {
  const std::size_t different = column.texts().size();
  choice.embedding = EmbeddingOf(different);
  const bool short_texts =
      std::all_of(column.texts().begin(), column.texts().end(),
                  [](const auto& entry) { return entry.first.size() <= kLongestListed; });
  if (different <= kMostListed && short_texts) {
    choice.kind = FeatureKind::kVocabulary;
    choice.values = column.ByFrequency();
    choice.reason = std::to_string(different) + " different " + what + ", most frequent first";
    return;
  }
  choice.kind = FeatureKind::kHashed;
  choice.buckets = std::min<std::int64_t>(
      kMostBuckets, static_cast<std::int64_t>(std::bit_ceil(std::uint64_t{2} * different)));
  choice.reason =
      std::to_string(different) + " different " + what + ", hashed into twice as many buckets";
}

void Number(const ColumnProfile& column, FeatureChoice& choice) {
  choice.mean = column.mean();
  choice.deviation = column.Deviation();
  const std::string range = "numbers from " + Short(column.min()) + " to " + Short(column.max());
  if (column.min() >= 0 && column.Skewness() > kLongTail) {
    choice.kind = FeatureKind::kLog;
    choice.reason = range + " with a long tail";
    return;
  }
  choice.kind = FeatureKind::kStandardized;
  choice.reason = range;
}

/// Kind and reason of one column.
void Choose(const ColumnProfile& column, const InitOptions& options, FeatureChoice& choice) {
  const std::size_t different = column.texts().size();
  const bool enough = column.values() >= kFewRecords;
  const bool mostly_unique = column.values() < kRecordsPerValue * different;
  if (Contains(options.ignore, column.name())) {
    choice.reason = "--ignore";
  } else if (different == 0) {
    choice.reason = "is always empty";
  } else if (different == 1) {
    choice.reason = "has one value alone";
  } else if (Contains(options.categories, column.name())) {
    Categorize(column, "values (--category)", choice);
  } else if (column.CountsRecords() && enough) {
    choice.reason = "counts the records";
  } else if (column.AllIntegers() && IsNameOfId(column.name()) && enough && !mostly_unique) {
    Categorize(column, "ids", choice);
  } else if (column.AllIntegers() && different > 2 && different <= kFewIntegers && enough &&
             !mostly_unique) {
    Categorize(column, "small integers", choice);
  } else if (column.AllNumbers() && column.Deviation() > 0) {
    Number(column, choice);
  } else if (column.AllNumbers()) {
    choice.reason = "has one number alone";
  } else if (enough && mostly_unique) {
    choice.reason = "nearly every record has a text of its own (" + std::to_string(different) +
                    " of " + std::to_string(column.values()) + ")";
  } else {
    Categorize(column, "texts", choice);
  }
}

/// Of the column's, what the name of a feature may have.
std::string FeatureName(const std::string& column, std::set<std::string>& taken) {
  std::string name;
  for (const char c : column) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (good) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_' && column.back() != '_') name.pop_back();
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) name.insert(0, "column_");
  constexpr std::size_t kForNumber = 8;
  name.resize(std::min(name.size(), kLongestName - kForNumber));
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
  return unique;
}

}  // namespace

Result<std::vector<FeatureChoice>> ChooseFeatures(const TableProfile& table,
                                                  const InitOptions& options) {
  std::vector<FeatureChoice> choices;
  std::set<std::string> names;
  std::size_t used = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i == table.label) continue;
    FeatureChoice choice;
    choice.column = table.columns[i].name();
    Choose(table.columns[i], options, choice);
    if (choice.kind != FeatureKind::kIgnored) {
      choice.name = FeatureName(choice.column, names);
      ++used;
    }
    choices.push_back(std::move(choice));
  }
  if (used == 0) {
    std::string why;
    for (const FeatureChoice& choice : choices) {
      if (why.empty()) why = choice.column + ": " + choice.reason;
    }
    return InvalidArgumentError("no column is left that a model could learn from (" + why +
                                "); give a file with more, or name one by --category");
  }
  if (used > kMostFeatures) {
    return InvalidArgumentError(std::to_string(used) + " columns are more than the " +
                                std::to_string(kMostFeatures) +
                                " features that a job may have; leave some out by --ignore");
  }
  return choices;
}

}  // namespace pstrain
