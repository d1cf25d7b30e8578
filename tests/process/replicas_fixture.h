#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "local/replicas/ports.h"
#include "tests/process/exact_fixture.h"
#include "tests/process/program.h"

namespace pstrain {

/// The exact job with replicas that the test starts itself, without pstrain run and agents: a
/// chief, two ps, two workers and, where wanted, an evaluator; a third ps may come later. So it
/// chooses their addresses and environment, and holds the job where it wants to. Nobody starts a
/// replica again.
class ReplicasTest : public ExactRunTest {
 protected:
  static constexpr std::chrono::seconds kLimit{600};

  void SetUp() override;

  /// The job has an evaluator too. Before StartAll.
  void AddEvaluator();
  /// More members of spec.training of the job. Before StartAll.
  void AddToTraining(const std::string& lines);
  /// How long the job is. Before StartAll.
  void SetEpochs(int epochs);
  void SetRecords(int records);
  int examples() const { return records_ * epochs_; }

  /// Little is granted beyond that percentage until Continue. Before StartAll.
  void BarrierAt(int percent) const;
  void Continue(int percent) const;

  /// Starts all replicas and waits for the first checkpoint.
  void StartAll();
  /// A process of the runtime whose TF_CONFIG has `ps` ps.
  std::unique_ptr<Program> Start(const std::string& role, int index, int ps) const;
  Program& Replica(const std::string& role, int index);
  /// NAME=VALUE of every replica that is started from now on.
  std::vector<std::string> environment_;

  /// host:port on which a replica listens.
  virtual std::string AddressOf(const std::string& role, int index) const;
  /// What comes before the runtime in the command of a replica.
  virtual std::vector<std::string> Before(const std::string& role, int index) const;

  /// Another number of ps is wanted.
  void Scale(int ps) const;
  /// The chief ends well and with it all others, with every example once and the weights of the
  /// closed form.
  void ExpectExact();
  /// The counts and weights of a run whose chief has ended well.
  void ExpectExactResult() const;

  /// Shards have moved to a ps.
  bool MovedTo(int ps) const;
  /// Examples in the newest checkpoint.
  std::int64_t Saved() const;
  /// What the replicas have written, for messages of a test.
  std::string Logs() const;

  const Ended run_{-1, *ParseJson(R"({"run_id": "run"})"), "", ""};
  std::unique_ptr<Program> chief_;
  std::vector<std::unique_ptr<Program>> ps_;
  std::vector<std::unique_ptr<Program>> workers_;
  std::unique_ptr<Program> evaluator_;

 private:
  std::string Addresses(const std::string& role, int count) const;

  int epochs_ = 3;
  int records_ = kRecords;
  std::optional<local::ClaimedPorts> ports_;
};

}  // namespace pstrain
