#include "local/view/run_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "local/view/number_text.h"
#include "proto/contract/run_files.h"

namespace pstrain::local {
namespace {

constexpr double kPercent = 100.0;
constexpr std::size_t kIndent = 2;

std::optional<double> NumberOf(const Json& report, std::string_view key) {
  const Json* value = report.Find(key);
  return value == nullptr ? std::nullopt : value->AsDouble();
}

std::string TextOf(const Json& report, std::string_view key) {
  const Json* value = report.Find(key);
  return value == nullptr || value->AsString() == nullptr ? std::string() : *value->AsString();
}

std::string Count(double value) { return CountText(std::llround(value)); }

/// A number or a text as it is in the report.
std::string Plain(const Json& object, std::string_view key) {
  const Json* value = object.Find(key);
  if (value == nullptr) return "none";
  return value->AsString() != nullptr ? *value->AsString() : WriteJson(*value);
}

std::string DescribeBest(const Json& best) {
  if (best.is_null()) return "none";
  return Plain(best, "metric") + " " + Plain(best, "value") + ", checkpoint " +
         Plain(best, "checkpoint") + " after " + Plain(best, "examples_committed") + " examples";
}

std::string DescribeStop(const Json& stop) {
  const Json* best = stop.Find("best");
  return "no better " + Plain(stop, "metric") + " in " + Plain(stop, "patience") +
         " evaluations since the best: " + (best == nullptr ? "none" : DescribeBest(*best));
}

using Row = std::vector<std::string>;

/// Columns as wide as their widest text, the first to the left, the others to the right.
std::string Table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], ColumnsOf(row[i]));
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line(kIndent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - ColumnsOf(row[i]), ' ');
      line += i == 0 ? row[i] + blanks : "  " + blanks + row[i];
    }
    while (line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

/// Words in lines of at most `columns`, each behind the indent.
std::string Wrapped(const std::string& words, std::size_t columns) {
  std::string text;
  std::string line(kIndent, ' ');
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    if (line.size() > kIndent && line.size() + 1 + word.size() > columns) {
      text += line + "\n";
      line.assign(kIndent, ' ');
    }
    line += (line.size() > kIndent ? " " : "") + word;
    begin = end + 1;
  }
  return text + line + "\n";
}

std::string Head(const Json& report) {
  std::string text = TextOf(report, "job") + ": " + TextOf(report, "state");
  const std::optional<double> seconds = NumberOf(report, "seconds");
  if (seconds) text += " after " + DurationText(*seconds);
  return text + " (run " + TextOf(report, "run_id") + ")\n";
}

std::string Metrics(const std::vector<MetricSummary>& metrics) {
  std::vector<Row> rows = {{"metric", "last", "best", "at epoch"}};
  for (const MetricSummary& metric : metrics) {
    if (!metric.last && !metric.best) continue;
    Row row = {metric.name, metric.last ? MetricText(*metric.last) : "-", "", ""};
    if (metric.best) {
      row[2] = MetricText(*metric.best);
      row[3] = MetricText(metric.best_epoch);
      row[3].resize(row[3].size() - 2);  // two of four decimals
    }
    rows.push_back(std::move(row));
  }
  return rows.size() == 1 ? std::string() : "\n" + Table(rows);
}

/// "456 of 456 examples; every shard has applied 456; 14 steps, 2.1k examples/s".
std::string Counts(const Json& report) {
  const std::optional<double> committed = NumberOf(report, "examples_committed");
  if (!committed) return {};
  const std::optional<double> expected = NumberOf(report, "examples_expected");
  const std::optional<double> lowest = NumberOf(report, "applied_min");
  const std::optional<double> highest = NumberOf(report, "applied_max");
  std::string text = Count(*committed);
  if (expected) text += " of " + Count(*expected);
  text += " examples committed; ";
  if (lowest && highest) {
    text += *lowest == *highest
                ? "each shard has applied " + Count(*lowest) + "; "
                : "shards have applied " + Count(*lowest) + " to " + Count(*highest) + "; ";
  }
  text += Count(NumberOf(report, "steps").value_or(0)) + " steps, " +
          RateText(NumberOf(report, "examples_per_second").value_or(0)) + " examples/s";
  for (const auto& [key, what] : {std::pair("records_skipped", "bad records left out"),
                                  std::pair("records_non_finite", "records not finite, left out"),
                                  std::pair("batches_reopened", "batches granted again"),
                                  std::pair("duplicates_refused", "duplicates refused")}) {
    const double count = NumberOf(report, key).value_or(0);
    if (count > 0) text += "; " + Count(count) + " " + what;
  }
  return text;
}

std::string Replicas(const Json& report) {
  std::string text;
  const Json* ps = report.Find("ps");
  if (ps != nullptr && !ps->items().empty()) {
    std::vector<Row> rows = {{"ps", "shards", "received", "sent"}};
    for (const Json& one : ps->items()) {
      rows.push_back({std::to_string(rows.size() - 1), Count(NumberOf(one, "shards").value_or(0)),
                      BytesText(NumberOf(one, "bytes_received").value_or(0)),
                      BytesText(NumberOf(one, "bytes_sent").value_or(0))});
    }
    text += "\n" + Table(rows);
  }
  const Json* workers = report.Find("workers");
  if (workers == nullptr || workers->items().empty()) return text;
  double all = 0;
  for (const Json& one : workers->items()) all += NumberOf(one, "examples").value_or(0);
  std::vector<Row> rows = {{"worker", "examples", "share"}};
  for (const Json& one : workers->items()) {
    const double examples = NumberOf(one, "examples").value_or(0);
    rows.push_back({std::to_string(rows.size() - 1), Count(examples),
                    all > 0 ? Count(examples * kPercent / all) + " %" : "-"});
  }
  return text + "\n" + Table(rows);
}

std::string Survived(const Json& report, const SummaryFacts& facts, std::size_t columns) {
  std::string text;
  const Json* kills = report.Find("kills");
  const std::size_t fired = kills == nullptr ? 0 : kills->items().size();
  if (fired > 0) {
    text += "\nkills of --chaos: " + std::to_string(fired) + "\n";
    for (const Json& kill : kills->items()) {
      std::string line = TextOf(kill, "role") + "-" + Count(NumberOf(kill, "index").value_or(0)) +
                         " at " + Count(NumberOf(kill, "at_examples").value_or(0)) + " examples";
      const std::optional<double> after = NumberOf(kill, "first_step_after_s");
      if (after)
        line += ", at work again after " + WriteJson(Json::Double(Rounded(*after, 2))) + " s";
      text += Wrapped(line, columns);
    }
  }
  if (facts.ends.empty()) return text;
  constexpr std::size_t kMost = 5;
  text += "\nends of replicas: " + std::to_string(facts.ends.size()) + "\n";
  for (std::size_t i = 0; i < std::min(kMost, facts.ends.size()); ++i) {
    text += Wrapped(facts.ends[i], columns);
  }
  if (facts.ends.size() > kMost) text += "  ...\n";
  return text;
}

}  // namespace

std::string RunSummary(const Json& report, const SummaryFacts& facts, std::size_t columns) {
  constexpr std::size_t kNarrowest = 40;
  columns = std::max(columns, kNarrowest);
  std::string text = Head(report);
  const std::string reason = TextOf(report, "reason");
  if (!reason.empty()) text += Wrapped(reason, columns);
  text += Metrics(facts.metrics);
  if (const Json* best = report.Find(kResultBest))
    text += "\nbest\n" + Wrapped(DescribeBest(*best), columns);
  if (const Json* stop = report.Find(kResultEarlyStopped); stop != nullptr && !stop->is_null())
    text += "\nearly stop\n" + Wrapped(DescribeStop(*stop), columns);
  const std::string counts = Counts(report);
  if (!counts.empty()) text += "\n" + Wrapped(counts, columns);
  text += Replicas(report) + Survived(report, facts, columns);
  if (!facts.checkpoint.empty()) text += "\ncheckpoint\n  " + facts.checkpoint + "\n";
  if (!facts.next.empty()) text += "\nnext\n";
  for (const std::string& command : facts.next) text += "  " + command + "\n";
  return text;
}

}  // namespace pstrain::local
