#include "cli/init/manifest_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <string_view>

#include "base/os/files.h"
#include "base/text/json.h"
#include "local/preflight/texts.h"
#include "proto/job/model_kind.h"

namespace pstrain {
namespace {

constexpr std::size_t kColumns = 100;

std::string Number(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", number);
  return text.data();
}

/// `head` [a, b, c], in lines of at most kColumns; what follows the first is indented by `indent`.
std::string Wrapped(const std::string& head, const std::vector<std::string>& items,
                    const std::string& tail, std::size_t indent) {
  std::string text = head;
  std::size_t width = head.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 == items.size() ? tail : ",");
    if (i > 0 && width + item.size() + 1 > kColumns) {
      text += "\n" + std::string(indent, ' ');
      width = indent;
    } else if (i > 0) {
      text += " ";
      ++width;
    }
    text += item;
    width += item.size();
  }
  return text + "\n";
}

std::vector<std::string> Texts(const std::vector<std::string>& texts) {
  std::vector<std::string> scalars(texts.size());
  std::transform(texts.begin(), texts.end(), scalars.begin(), YamlText);
  return scalars;
}

/// How much training a file of that many records wants.
struct Sizes {
  std::uint64_t batch = 512;
  std::uint64_t epochs = 1;
  std::uint64_t block = 4096;
  std::uint64_t every_steps = 100;
  const char* hidden_units = "[128, 64]";
};

Sizes SizesFor(std::uint64_t records) {
  constexpr std::uint64_t kSmall = 2000;
  constexpr std::uint64_t kMiddle = 100'000;
  // So many steps are enough for a model of this kind; small files are read more often.
  constexpr std::uint64_t kSteps = 2000;
  constexpr std::uint64_t kMostEpochs = 30;
  constexpr std::uint64_t kBlocks = 16;
  Sizes sizes;
  if (records < kSmall) {
    sizes.batch = 32;
    sizes.hidden_units = "[32, 16]";
  } else if (records < kMiddle) {
    sizes.batch = 128;
    sizes.hidden_units = "[64, 32]";
  }
  const std::uint64_t steps = std::max<std::uint64_t>(1, records / sizes.batch);
  sizes.epochs = std::clamp<std::uint64_t>(kSteps / steps, 1, kMostEpochs);
  sizes.block = std::clamp<std::uint64_t>(records / kBlocks, sizes.batch, sizes.block);
  constexpr std::uint64_t kCheckpoints = 10;
  sizes.every_steps = std::max<std::uint64_t>(20, steps * sizes.epochs / kCheckpoints);
  return sizes;
}

std::string FeatureText(const FeatureChoice& feature) {
  const std::string indent = "      ";
  const std::string inside = indent + "  ";
  std::string text = indent + "# " + feature.reason + "\n";
  const std::string name = YamlText(feature.name);
  const std::string column =
      feature.column == feature.name ? "" : ", column: " + YamlText(feature.column);
  const std::string embedding = ", embeddingDimension: " + std::to_string(feature.embedding);
  switch (feature.kind) {
    case FeatureKind::kStandardized:
      return text + indent + "- {name: " + name + column + ",\n" + inside +
             " numeric: {defaultValue: " + Number(feature.mean) +
             ", transform: {standardize: {mean: " + Number(feature.mean) +
             ", stddev: " + Number(feature.deviation) + "}}}}\n";
    case FeatureKind::kLog:
      return text + indent + "- {name: " + name + column + ", numeric: {transform: {log: {}}}}\n";
    case FeatureKind::kVocabulary:
      return text + indent + "- {name: " + name + column + embedding + ",\n" +
             Wrapped(inside + " vocabulary: {values: [", Texts(feature.values), "]}}",
                     inside.size() + 2);
    case FeatureKind::kHashed:
      return text + indent + "- {name: " + name + column + embedding +
             ", hashed: {buckets: " + std::to_string(feature.buckets) + "}}\n";
    case FeatureKind::kIgnored:
      break;
  }
  return {};
}

std::string FeaturesText(const ManifestPlan& plan) {
  std::string text =
      "    # What the model sees of a record, a feature for each column. Numbers are shifted and "
      "scaled by\n"
      "    # the mean and deviation of the records that were read; defaultValue stands for a "
      "missing one.\n"
      "    # Texts get an embedding each. More: crossed, bucketize in the reference.\n"
      "    features:\n";
  for (const FeatureChoice& feature : plan.features) {
    if (feature.kind != FeatureKind::kIgnored) text += FeatureText(feature);
  }
  return text;
}

/// `csv:` with all that is below it, indented by `indent`.
std::string CsvText(const ManifestPlan& plan, const std::string& file, const std::string& indent,
                    bool comments) {
  const TableProfile& table = plan.table;
  const auto comment = [&](const std::string& text) {
    return comments ? indent + "  # " + text + "\n" : std::string();
  };
  std::string text = indent + "csv:\n";
  text += comment("Seen from the directory in which pstrain is called.");
  text += indent + "  files: [" + YamlText(file) + "]\n";
  if (!plan.options.columns.empty()) {
    text += Wrapped(indent + "  columns: [", Texts(plan.options.columns), "]", indent.size() + 4);
  }
  if (table.header) text += indent + "  header: true\n";
  if (table.delimiter != ',') {
    text +=
        indent + "  delimiter: " + WriteJson(Json::String(std::string(1, table.delimiter))) + "\n";
  }
  if (!table.missing.empty()) {
    text += comment("Marks a missing value, as an empty field does.");
    text += indent + "  missing: " + WriteJson(Json::String(table.missing)) + "\n";
  }
  text += indent + "  labelColumn: " + YamlText(table.Label().name()) + "\n";
  text += comment(plan.label.reason);
  if (!plan.label.map.empty()) {
    std::vector<std::string> pairs;
    pairs.reserve(plan.label.map.size());
    for (const auto& [label, number] : plan.label.map) {
      pairs.push_back(WriteJson(Json::String(label)) + ": " + std::to_string(number));
    }
    text += Wrapped(indent + "  labelMap: {", pairs, "}", indent.size() + 4);
  }
  if (table.bad > 0) {
    text += comment(std::to_string(table.bad) + " of the records that were read are left out: " +
                    preflight::Quoted(table.first_bad));
    text += indent + "  badRecords: Skip\n";
  }
  return text;
}

std::string IgnoredText(const ManifestPlan& plan) {
  std::string text;
  for (const FeatureChoice& feature : plan.features) {
    if (feature.kind != FeatureKind::kIgnored) continue;
    text += "    #   " + preflight::Quoted(feature.column) + ": " + feature.reason + "\n";
  }
  return text.empty() ? text : "    # Columns that no feature reads:\n" + text;
}

std::string HeadText(const ManifestPlan& plan) {
  const TableProfile& table = plan.table;
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  const std::string seen = table.cut
                               ? "the first " + std::to_string(table.records + table.bad) +
                                     " records (" + std::to_string(kInitSampleBytes / kMegabyte) +
                                     " MiB; what comes behind was not looked at)"
                               : "all " + std::to_string(table.records + table.bad) + " records";
  std::string text = "# Written by pstrain init from " + seen + " of " +
                     preflight::Quoted(plan.options.file) +
                     ".\n"
                     "# Check it with `pstrain validate --data`, train with `pstrain run`. Every "
                     "field is in\n"
                     "# docs/reference/pstrainingjob.md, the words of this file in "
                     "docs/guide/first-model.md.\n";
  text += "apiVersion: pstrain.dev/v1alpha1\nkind: PSTrainingJob\nmetadata:\n  name: " +
          JobName(plan.options.name.empty() ? BaseName(plan.options.file) : plan.options.name) +
          "\nspec:\n  replicaSpecs:\n"
          "    # Each replica is a process here. A second ps or more workers pay where there are "
          "cores for\n"
          "    # them; in a cluster each role needs a template with an image and volumes.\n"
          "    ps: {replicas: 1}\n    worker: {replicas: 2}\n";
  if (!plan.options.eval_file.empty()) text += "    evaluator: {replicas: 1}\n";
  return text;
}

std::string EvaluationText(const ManifestPlan& plan) {
  if (plan.options.eval_file.empty()) {
    return "    # Nothing scores the model: keep a part of the records out of the training and "
           "give "
           "it by\n"
           "    # --eval FILE. Numbers of the records that a model was trained on say little.\n";
  }
  return "    # Scores each checkpoint on records that are not trained on.\n"
         "    evaluation:\n"
         "      metrics: [auc, accuracy, logLoss, calibration]\n"
         "      input:\n" +
         CsvText(plan, plan.options.eval_file, "        ", false);
}

std::string TrainingText(const ManifestPlan& plan) {
  const Sizes sizes = SizesFor(plan.records);
  std::string text =
      "  training:\n"
      "    model:\n"
      "      # A linear part beside hidden layers of these widths. Wider layers learn more and "
      "need more\n"
      "      # records; an empty list leaves the linear part alone.\n"
      "      " +
      FirstModelWithLayers() + ": {hiddenUnits: " + sizes.hidden_units + "}\n";
  text += FeaturesText(plan) + IgnoredText(plan) + "    input:\n";
  text += CsvText(plan, plan.options.file, "      ", true);
  text +=
      "    # A rate and a small accumulator that learn in few passes. When the loss jumps or is no "
      "number,\n"
      "    # divide the rate by 3; when it falls slowly, multiply it (docs/guide/optimizers.md).\n"
      "    optimizer: {adagrad: {learningRate: 0.05, initialAccumulatorValue: 0.001}}\n";
  text += "    # By about " + std::to_string(plan.records) +
          " records. Larger batches are faster and learn less in each pass.\n";
  text += "    batchSize: " + std::to_string(sizes.batch) + "\n";
  text += "    # Passes over the input. Fewer when the evaluation gets worse towards the end.\n";
  text += "    epochs: " + std::to_string(sizes.epochs) + "\n";
  if (sizes.block < 4096) {
    text += "    # Small blocks, so that every worker gets some of this small file.\n";
    text += "    blockSize: " + std::to_string(sizes.block) + "\n";
  }
  text +=
      "    checkpoint: {directory: checkpoints, everySteps: " + std::to_string(sizes.every_steps) +
      ", keep: 3}\n";
  return text + EvaluationText(plan);
}

}  // namespace

std::string YamlText(const std::string& text) {
  constexpr std::array<std::string_view, 9> kWords = {"true", "false", "yes", "no", "on",
                                                      "off",  "null",  "y",   "n"};
  std::string lower = text;
  bool plain = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
  for (char& c : lower) {
    const auto byte = static_cast<unsigned char>(c);
    plain = plain && byte < 0x80 &&
            (std::isalnum(byte) != 0 || c == '_' || c == '-' || c == '.' || c == '/');
    c = static_cast<char>(std::tolower(byte));
  }
  plain = plain && std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
  return plain ? text : WriteJson(Json::String(text));
}

std::string JobName(const std::string& text) {
  constexpr std::size_t kLongest = 40;
  std::string name;
  for (const char c : text.substr(0, text.find('.', 1))) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  if (name.empty() || name.front() < 'a' || name.front() > 'z') name.insert(0, "job-");
  name.resize(std::min(name.size(), kLongest));
  while (name.back() == '-') name.pop_back();
  return name;
}

std::string WriteManifest(const ManifestPlan& plan) { return HeadText(plan) + TrainingText(plan); }

}  // namespace pstrain
