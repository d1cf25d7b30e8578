// Mistakes that people make, one line each: `pstrain run` refuses each of them with a text that
// names the place and the way out, and starts nothing.
#include <gmock/gmock.h>

#include <utility>

#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

/// What is different from the job below and its data, and what is said of it.
struct Mistake {
  const char* name;
  /// Texts of the job, each with the one in its place.
  std::vector<std::pair<std::string, std::string>> edits = {};
  /// What data.csv has instead; empty: it stays.
  std::string data = {};
  std::vector<std::string> arguments = {};
  std::string says = {};
};

constexpr const char* kJob =
    "apiVersion: pstrain.dev/v1alpha1\n"
    "kind: PSTrainingJob\n"
    "metadata: {name: small}\n"
    "spec:\n"
    "  replicaSpecs:\n"
    "    ps: {replicas: 1}\n"
    "    worker: {replicas: 1}\n"
    "    evaluator: {replicas: 1}\n"
    "  training:\n"
    "    model: {wideAndDeep: {}}\n"
    "    features:\n"
    "      - {name: age, numeric: {}}\n"
    "      - {name: city, vocabulary: {values: [a, b, c]}}\n"
    "    input:\n"
    "      csv: {files: [data.csv], header: true, labelColumn: label}\n"
    "    optimizer: {adagrad: {learningRate: 0.05}}\n"
    "    batchSize: 8\n"
    "    checkpoint: {directory: checkpoints}\n"
    "    evaluation:\n"
    "      input:\n"
    "        csv: {files: [data.csv], header: true, labelColumn: label}\n";

constexpr const char* kCsv = "csv: {files: [data.csv], header: true, labelColumn: label}\n    opt";
std::string Csv(const std::string& members) { return "csv: {" + members + "}\n    opt"; }

/// 40 records with a header, the line `line` replaced.
std::string Data(std::size_t line = 0, const std::string& text = "") {
  std::string data;
  for (std::size_t i = 1; i <= 41; ++i) {
    const std::string good = i == 1 ? std::string("label,age,city")
                                    : std::to_string(i % 2) + "," + std::to_string(20 + i) + ",b";
    data += (i == line ? text : good) + "\n";
  }
  return data;
}

/// 40 records without a header, made of this line.
std::string Lines(const std::string& header, const std::string& odd, const std::string& even) {
  std::string data = header;
  for (int i = 0; i < 20; ++i) data.append(odd).append("\n").append(even).append("\n");
  return data;
}

const std::vector<Mistake>& Mistakes();

class MistakesTest : public SmallJob, public testing::WithParamInterface<std::size_t> {};

TEST_P(MistakesTest, IsRefusedBeforeAnythingIsStarted) {
  const Mistake& mistake = Mistakes()[GetParam()];
  SCOPED_TRACE(mistake.name);
  std::string job = kJob;
  for (const auto& [from, to] : mistake.edits) {
    ASSERT_NE(job.find(from), std::string::npos) << from;
    job.replace(job.find(from), from.size(), to);
  }
  Write("job.yaml", job);
  Write("data.csv", mistake.data.empty() ? Data() : mistake.data);
  Write("empty.csv", "");
  Write("file", "mine");
  const ProgramEnd end = Run(mistake.arguments);
  EXPECT_EQ(end.code, 2) << end.out << end.err;
  EXPECT_THAT(end.err, HasSubstr(mistake.says));
  // The error is all that is said.
  EXPECT_EQ(end.Text("error") + "\n", end.err);
  EXPECT_EQ(end.Text("state"), "Failed");
  EXPECT_FALSE(FileExists(dir_.File(".pstrain/small/run.json")));
  EXPECT_FALSE(FileExists(dir_.File("checkpoints")));
}

INSTANTIATE_TEST_SUITE_P(All, MistakesTest, testing::Range<std::size_t>(0, 61),
                         [](const testing::TestParamInfo<std::size_t>& one) {
                           return std::string(Mistakes()[one.param].name);
                         });

TEST(Mistakes, AreAsManyAsAreTried) { EXPECT_EQ(Mistakes().size(), 61U); }

const std::vector<Mistake>& Mistakes() {
  static const std::vector<Mistake> mistakes = {
      // The form of the manifest.
      {"Indentation", {{"  replicaSpecs:", " replicaSpecs:"}}, "", {}, "job.yaml:9: is not YAML"},
      {"Tab",
       {{"    batchSize: 8", "\tbatchSize: 8"}},
       "",
       {},
       "job.yaml:17: is indented by a tab; YAML admits spaces alone"},
      {"OpenBracket", {{"[a, b, c]", "[a, b, c"}}, "", {}, "job.yaml:13: is not YAML"},
      {"UnknownField", {{"batchSize", "batchsize"}}, "", {}, "did you mean \"batchSize\"?"},
      {"FieldTwice", {{"batchSize: 8", "batchSize: 8\n    batchSize: 9"}}, "", {}, "batchSize"},
      {"TextForNumber", {{"batchSize: 8", "batchSize: eight"}}, "", {}, "must be an integer"},
      {"QuotedNumber", {{"batchSize: 8", "batchSize: \"8\""}}, "", {}, "found \"8\""},
      {"ListForObject",
       {{"checkpoint: {directory: checkpoints}", "checkpoint: [checkpoints]"}},
       "",
       {},
       "must be an object"},
      {"YesForTrue", {{"header: true", "header: yes"}}, "", {}, "header"},
      {"UnknownEnum",
       {{"labelColumn: label}\n    opt", "labelColumn: label, badRecords: Ignore}\n    opt"}},
       "",
       {},
       "Skip"},
      {"OutOfRange", {{"batchSize: 8", "batchSize: 0"}}, "", {}, "must be at least 1"},
      {"NoReplicas",
       {{"worker: {replicas: 1}", "worker: {replicas: 0}"}},
       "",
       {},
       "must be at least 1"},
      {"MissingField", {{"    batchSize: 8\n", ""}}, "", {}, "batchSize: is required"},
      {"BadName", {{"name: small", "name: Small_Job"}}, "", {}, "metadata.name"},
      {"WrongKind", {{"kind: PSTrainingJob", "kind: PsTrainingJob"}}, "", {}, "kind"},
      {"FeatureTwice", {{"{name: city,", "{name: age,"}}, "", {}, "is the name of features[0] too"},
      {"FeatureWithoutName", {{"{name: age, ", "{"}}, "", {}, "name: is required"},
      {"FeatureWithoutKind", {{"numeric: {}", "wide: true"}}, "", {}, "must have exactly one of"},
      {"FeatureOfTwoKinds",
       {{"numeric: {}", "numeric: {}, hashed: {buckets: 3}"}},
       "",
       {},
       "must have exactly one of"},
      {"EmptyVocabulary", {{"[a, b, c]", "[]"}}, "", {}, "must have at least 1 item"},
      {"VocabularyTwice", {{"[a, b, c]", "[a, b, a]"}}, "", {}, "is in the list twice"},
      {"CrossOfUnknown",
       {{"    input:\n      csv",
         "      - {name: mix, crossed: {features: [city, town], buckets: 9}}\n    input:\n      "
         "csv"}},
       "",
       {},
       "there is no feature \"town\""},
      {"CrossOfNumber",
       {{"    input:\n      csv",
         "      - {name: mix, crossed: {features: [city, age], buckets: 9}}\n    input:\n      "
         "csv"}},
       "",
       {},
       "\"age\" has no categories"},
      {"EmbeddingWithoutLayers",
       {{"{name: city, ", "{name: city, embeddingDimension: 8, "}},
       "",
       {},
       "has an embedding, and there are no hidden layers that it enters"},
      {"LabelMapBeyondOne",
       {{kCsv, Csv("files: [data.csv], header: true, labelColumn: label, labelMap: {\"1\": 0, "
                   "\"2\": 2}")}},
       "",
       {},
       "must be at most 1"},
      {"LongDelimiter",
       {{kCsv, Csv("files: [data.csv], header: true, labelColumn: label, delimiter: \"||\"")}},
       "",
       {},
       "must have at most 1 character"},
      {"NoColumns",
       {{kCsv, Csv("files: [data.csv], labelColumn: label")}},
       "",
       {},
       "nothing names the columns; set header: true or list columns"},
      {"NoFiles",
       {{kCsv, Csv("files: [], header: true, labelColumn: label")}},
       "",
       {},
       "must have at least 1 item"},
      {"EvaluationWithoutEvaluator",
       {{"    evaluator: {replicas: 1}\n", ""}},
       "",
       {},
       "evaluation is asked for but there is no evaluator; add replicaSpecs.evaluator"},
      {"LabelAsFeature",
       {{"{name: age,", "{name: age, column: label,"},
        {kCsv, Csv("files: [data.csv], columns: [label, age, city], labelColumn: label")}},
       "",
       {},
       "column \"label\" is the label"},
      // The command line.
      {"UnknownOption", {}, "", {"--volumes", "data=."}, "did you mean --volume"},
      {"VolumeWithoutDirectory", {}, "", {"--volume", "data"}, "the form is NAME=DIR"},
      {"VolumeThatNobodyMounts", {}, "", {"--volume", "data=."}, "no replica mounts it"},
      {"OverrideOfNothing",
       {},
       "",
       {"--set", "spec.training.batchsize=4"},
       "did you mean \"batchSize\"?"},
      {"StopAtBeyondTheEnd", {}, "", {"--stop-at", "120"}, "must be a number from 0 to 100"},
      {"ChaosOfNobody", {}, "", {"--chaos", "boss@50"}, "boss"},
      // The files.
      {"FileAbsent",
       {{"[data.csv]", "[dta.csv]"}},
       "",
       {},
       "spec.training.input.csv: dta.csv: No such file or directory; did you mean \"data.csv\"?"},
      {"FolderAbsent", {{"[data.csv]", "[days/data.csv]"}}, "", {}, "there is no folder days"},
      {"GlobThatMatchesAFileAgain",
       {{"[data.csv]", "[\"da*.csv\", data.csv]"}},
       "",
       {},
       "data.csv: is in the input twice, also by the pattern \"da*.csv\""},
      {"GlobThatMatchesNothing",
       {{"[data.csv]", "[\"day-*.csv\"]"}},
       "",
       {},
       "spec.training.input.csv: no file matches \"day-*.csv\"; the folder has data.csv"},
      {"FolderForFile",
       {{"[data.csv]", "[.]"}},
       "",
       {},
       ".: is a folder, not a file; list its files, here data.csv"},
      {"EmptyFile", {{"[data.csv]", "[empty.csv]"}}, "", {}, "empty.csv: the file is empty"},
      {"HeaderAlone", {}, "label,age,city\n", {}, "the file has a header and no records"},
      {"EvaluationFileAbsent",
       {{"        csv: {files: [data.csv]", "        csv: {files: [test.csv]"}},
       "",
       {},
       "spec.training.evaluation.input.csv: test.csv: No such file"},
      {"PlainCalledGzip",
       {{kCsv, Csv("files: [data.csv], header: true, labelColumn: label, compression: Gzip")}},
       "",
       {},
       "is not compressed with gzip, but compression says Gzip"},
      {"ZipArchive", {}, "PK\x03\x04 anything", {}, "is a zip archive; unpack it"},
      {"Utf16", {}, "\xff\xfel", {}, "is UTF-16 text; save it as UTF-8"},
      {"VolumeNotGiven",
       {{"worker: {replicas: 1}",
         "worker: {replicas: 1, template: {spec: {containers: [{name: m, volumeMounts: [{name: "
         "data, mountPath: /data}]}]}}}"},
        {"[data.csv]", "[/data/x.csv]"}},
       "",
       {},
       "input /data/x.csv lies on volume \"data\", which is empty here; give --volume data=DIR"},
      {"CheckpointsInAFile",
       {{"directory: checkpoints", "directory: file/checkpoints"}},
       "",
       {},
       "spec.training.checkpoint.directory: file is a file; name a folder"},
      // What is in them.
      {"WrongColumn",
       {{"{name: age,", "{name: age, column: agee,"}},
       "",
       {},
       "feature age: data.csv has no column \"agee\"; did you mean \"age\"?; it has label, age, "
       "city"},
      {"WrongLabelColumn",
       {{"labelColumn: label}\n    opt", "labelColumn: target}\n    opt"}},
       "",
       {},
       "labelColumn: data.csv has no column \"target\""},
      {"WrongDelimiter",
       {},
       Lines("label;age;city\n", "1;20;a", "0;30;b"),
       {},
       "the header has 1 field when split at \",\"; 3 at \";\": set delimiter: \";\""},
      {"HeaderTakenForData",
       {{kCsv, Csv("files: [data.csv], columns: [label, age, city], labelColumn: label")}},
       "",
       {},
       "data.csv:1: the first line holds the column names but would be read as a record; set "
       "header: true"},
      {"DataTakenForHeader",
       {},
       Lines("", "1,20,a", "0,30,b"),
       {},
       "data.csv:1: the first line looks like a record (1, 20, a) but would be read as the header"},
      {"LabelsBeyondOne",
       {},
       Lines("label,age,city\n", "1,20,a\n2,20,a\n3,20,a", "4,30,b\n5,30,b"),
       {},
       "column label: labels are 1..5; map them: labelMap: {\"1\": 0, \"2\": 0, \"3\": 0, \"4\": "
       "1, \"5\": 1}"},
      {"LabelsOfText",
       {},
       Lines("label,age,city\n", "yes,20,a", "no,30,b"),
       {},
       "labels are \"no\", \"yes\"; map them: labelMap: {\"no\": 0, \"yes\": 1}"},
      {"LabelNotInMap",
       {{kCsv, Csv("files: [data.csv], header: true, labelColumn: label, labelMap: {\"yes\": 1, "
                   "\"no\": 0}")}},
       Lines("label,age,city\n", "yes,20,a", "no.,30,b"),
       {},
       "data.csv:3: label \"no.\" is not in labelMap; did you mean \"no\"?; it has \"no\", "
       "\"yes\""},
      {"NumberOnText",
       {{"{name: city, vocabulary: {values: [a, b, c]}}", "{name: city, numeric: {}}"}},
       Lines("label,age,city\n", "1,20,a", "0,30,b"),
       {},
       "column city holds text (\"a\"), and feature city is numeric; use vocabulary: {values: "
       "[...]} or hashed: {buckets: N}"},
      {"MissingMarkUnsaid",
       {},
       Lines("label,age,city\n", "1,?,a", "0,30,b"),
       {},
       "if that marks a missing value, set missing: \"?\""},
      {"OpenQuote", {}, Data(7, "1,20,\"b"), {}, "data.csv:7: a quoted field is not closed"},
      {"DelimiterInAField",
       {},
       Data(7, "1,20,b,c"),
       {},
       "data.csv:7: has 4 fields, expected 3; a field that holds the delimiter stands in double "
       "quotes"},
  };
  return mistakes;
}

}  // namespace
}  // namespace pstrain
