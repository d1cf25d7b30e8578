// A whole program with embedding tables, with real processes: its rows and what their optimizers
// keep are the same, bit for bit, whoever is killed on the way.
#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::SizeIs;

class RowsRunTest : public SmallJob {
 protected:
  static constexpr int kCalls = 340;
  static constexpr int kRows = 17;
  static constexpr int kTables = 2;

  void SetUp() override {
    const std::string container =
        "template: {spec: {containers: [{name: training, command: ['" PSTRAIN_BIN_DIR
        "/rows_program', '" +
        dir_.path() + "', '" + std::to_string(kCalls) + "']}]}}";
    Write("job.yaml",
          "apiVersion: pstrain.dev/v1alpha1\n"
          "kind: PSTrainingJob\n"
          "metadata: {name: rows}\n"
          "spec:\n"
          "  strategy: {shards: 5}\n"
          "  replicaSpecs:\n"
          "    chief: {" +
              container + "}\n    ps: {replicas: 2, " + container +
              "}\n    worker: {replicas: 2, " + container +
              "}\n"
              "  program: {checkpoint: {directory: checkpoints, everySeconds: 1}}\n");
  }

  /// Lines of the chief's attempts that begin so, one attempt after the other.
  std::vector<std::string> LinesOf(const ProgramEnd& end, const std::string& beginning) {
    EXPECT_EQ(end.code, 0) << end.err;
    const std::string folder = dir_.File(".pstrain/rows/logs");
    std::vector<std::string> lines;
    const auto names = ListDirectory(folder);
    EXPECT_TRUE(names.ok()) << names.status().ToString();
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      if (!name.starts_with("chief-0")) continue;
      std::istringstream log(ReadFile(JoinPath(folder, name)).value());
      for (std::string line; std::getline(log, line);) {
        if (line.starts_with(beginning)) lines.push_back(line);
      }
    }
    return lines;
  }
  /// What they are when nobody is killed.
  std::vector<std::string> Undisturbed() {
    const std::vector<std::string> rows = LinesOf(Run(), "row ");
    EXPECT_THAT(rows, SizeIs(kTables * kRows));
    for (const std::string& row : rows) EXPECT_FALSE(row.ends_with(" 0x0p+0")) << row;
    return rows;
  }
};

TEST_F(RowsRunTest, WhenTheChiefIsKilledBehindAMark_RowsAreThoseOfAnUndisturbedRun) {
  const std::vector<std::string> rows = Undisturbed();
  Write("kill", "");
  const ProgramEnd end = Run();
  EXPECT_THAT(LinesOf(end, "begins "), ElementsAre("begins at mark 0", "begins at mark 2"));
  EXPECT_THAT(LinesOf(end, "row "), ElementsAreArray(rows));
}

TEST_F(RowsRunTest, WhenAllAreKilled_RowsAreThoseOfAnUndisturbedRun) {
  const std::vector<std::string> rows = Undisturbed();
  Write("kill", "");
  const ProgramEnd end = Run({"--chaos", "worker@200,ps@400,ps:1@600,worker:1@800"});
  EXPECT_THAT(LinesOf(end, "begins "), ElementsAre("begins at mark 0", "begins at mark 2"));
  EXPECT_THAT(LinesOf(end, "row "), ElementsAreArray(rows));
}

}  // namespace
}  // namespace pstrain
