#include "proto/contract/tf_config.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "base/text/json.h"
#include "tests/testing/golden.h"

namespace pstrain {
namespace {

const ClusterAddresses kCluster = {
    {"chief", {{0, "c:1"}}},
    {"evaluator", {{0, "e:1"}}},
    {"ps", {{0, "p0:1"}, {1, "p1:1"}}},
    {"worker", {{0, "w0:1"}, {1, "w1:1"}}},
};

PSTrainingJob Job(int ps, int workers) {
  PSTrainingJob job;
  job.mutable_metadata()->set_name("j");
  ReplicaSpecs& specs = *job.mutable_spec()->mutable_replica_specs();
  specs.mutable_chief()->set_replicas(1);
  specs.mutable_ps()->set_replicas(ps);
  specs.mutable_worker()->set_replicas(workers);
  specs.mutable_evaluator()->set_replicas(1);
  return job;
}

TEST(TfConfig_WrittenDense, HasChiefPsWorkerInThatOrderAndNoEvaluator) {
  EXPECT_EQ(WriteTfConfig({.cluster = kCluster, .task_type = "worker", .task_index = 1}),
            R"({"cluster":{"chief":["c:1"],"ps":["p0:1","p1:1"],"worker":["w0:1","w1:1"]},)"
            R"("task":{"type":"worker","index":1},"rpc_layer":"grpc","environment":"cloud"})");
  EXPECT_EQ(WriteTfConfig({.cluster = kCluster, .task_type = "evaluator"}),
            R"({"cluster":{"chief":["c:1"],"ps":["p0:1","p1:1"],"worker":["w0:1","w1:1"]},)"
            R"("task":{"type":"evaluator","index":0},"rpc_layer":"grpc","environment":"cloud"})");
}

TEST(TfConfig_WrittenSparse, HasOfTheWorkersTheOwnEntryOnly) {
  EXPECT_EQ(
      WriteTfConfig({.cluster = kCluster, .task_type = "worker", .task_index = 1, .sparse = true}),
      R"({"cluster":{"chief":{"0":"c:1"},"ps":{"0":"p0:1","1":"p1:1"},"worker":{"1":"w1:1"}},)"
      R"("task":{"type":"worker","index":1},"rpc_layer":"grpc","environment":"cloud"})");
  EXPECT_EQ(WriteTfConfig({.cluster = kCluster, .task_type = "ps", .sparse = true}),
            R"({"cluster":{"chief":{"0":"c:1"},"ps":{"0":"p0:1","1":"p1:1"}},)"
            R"("task":{"type":"ps","index":0},"rpc_layer":"grpc","environment":"cloud"})");
}

TEST(TfConfig_OfAJob, IsReadBackAsWritten) {
  for (const bool sparse : {false, true}) {
    PSTrainingJob job = Job(2, 3);
    job.mutable_spec()->mutable_strategy()->set_tf_config(sparse ? Strategy::Sparse
                                                                 : Strategy::Dense);
    for (const std::string_view role : {"chief", "ps", "worker", "evaluator"}) {
      const auto text = TfConfigOf(job, KubernetesCluster(job), role, 0);
      ASSERT_TRUE(text.ok());
      const auto config = ParseTfConfig(*text);
      ASSERT_TRUE(config.ok()) << config.status().ToString();
      EXPECT_EQ(config->sparse, sparse);
      EXPECT_EQ(WriteTfConfig(*config), *text);
      ASSERT_NE(config->Address("ps", 1), nullptr);
      EXPECT_EQ(*config->Address("ps", 1), "j-ps-1.j.default.svc:2222");
    }
  }
}

TEST(TfConfig_OfAJobWithoutChief, NamesNoChiefAndIsSparseOnlyWithPs) {
  PSTrainingJob job = Job(1, 2);
  job.mutable_spec()->mutable_replica_specs()->mutable_chief()->set_replicas(0);
  job.mutable_spec()->mutable_strategy()->set_tf_config(Strategy::Sparse);
  EXPECT_EQ(TfConfigOf(job, KubernetesCluster(job), "worker", 0).value(),
            R"({"cluster":{"ps":{"0":"j-ps-0.j.default.svc:2222"},)"
            R"("worker":{"0":"j-worker-0.j.default.svc:2222"}},"task":{"type":"worker","index":0},)"
            R"("rpc_layer":"grpc","environment":"cloud"})");
  job.mutable_spec()->mutable_replica_specs()->mutable_ps()->set_replicas(0);
  EXPECT_EQ(TfConfigOf(job, KubernetesCluster(job), "worker", 1).value(),
            R"({"cluster":{"worker":["j-worker-0.j.default.svc:2222",)"
            R"("j-worker-1.j.default.svc:2222"]},"task":{"type":"worker","index":1},)"
            R"("rpc_layer":"grpc","environment":"cloud"})");
}

TEST(TfConfig_OfAJobWithoutThatReplica, IsNotFound) {
  const PSTrainingJob job = Job(2, 3);
  EXPECT_EQ(TfConfigOf(job, KubernetesCluster(job), "ps", 2).status().message(),
            "job j has no ps 2; it has 2 of that role");
  EXPECT_EQ(TfConfigOf(job, KubernetesCluster(job), "boss", 0).status().code(),
            StatusCode::kNotFound);
}

TEST(TfConfig_OfManyWorkers, BecomesSparseAbove64KiB) {
  const PSTrainingJob small = Job(2, 100);
  EXPECT_FALSE(UsesSparseTfConfig(small, KubernetesCluster(small)));
  const PSTrainingJob large = Job(2, 3000);
  EXPECT_TRUE(UsesSparseTfConfig(large, KubernetesCluster(large)));
  EXPECT_LT(LongestTfConfigBytes(large, KubernetesCluster(large)), 1000U);
}

std::string ErrorOf(std::string_view text) { return ParseTfConfig(text).status().message(); }

TEST(TfConfig_WhenBad, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("{cluster:").substr(0, 21), "TF_CONFIG is not JSON");
  EXPECT_EQ(
      ErrorOf(R"({"cluster":{"ps":["a:1"],"worker":["b:1"]},"task":{"type":"ps","index":1}})"),
      "TF_CONFIG: there is no task ps 1 in the cluster, which has 1 of that role; "
      "add it to the cluster or correct the task");
  EXPECT_EQ(ErrorOf(R"({"cluster":{"ps":["a:1"]},"task":{"type":"worker","index":0}})"),
            "TF_CONFIG: there is no task worker 0 in the cluster, which has no role of that name; "
            "add it to the cluster or correct the task");
  EXPECT_EQ(
      ErrorOf(R"({"cluster":{"ps":["a:1"],"worker":["a:1"]},"task":{"type":"ps","index":0}})"),
      "TF_CONFIG: the address a:1 is there twice: ps 0 and worker 0; each needs its own");
  EXPECT_EQ(ErrorOf("{}"), "TF_CONFIG: there is no cluster");
}

/// Where we refuse what TensorFlow takes, and why.
const std::set<std::string> kStricter = {
    "duplicate addresses",  // two tasks cannot share a port
    "address empty",        // nobody can connect to it
    "duplicate json keys",  // TensorFlow takes the last
    "rpc_layer number",     // TensorFlow makes "7" of it
    "no task",              // a process without a role has nothing to do here
    "task empty",
    "task list",
    "task string",
    "no type",
};

bool IsError(const Json& value) { return value.is_object() && value.Find("error") != nullptr; }

void ExpectSameCluster(const Json& expected, const TfConfig& config, const std::string& name) {
  std::size_t roles = 0;
  for (const auto& [role, tasks] : expected.members()) {
    roles += 1;
    const auto found = config.cluster.find(role);
    ASSERT_NE(found, config.cluster.end()) << name;
    EXPECT_EQ(found->second.size(), tasks.size()) << name;
    for (std::size_t i = 0; i < tasks.items().size(); ++i) {
      const std::string* address = config.Address(role, static_cast<int>(i));
      ASSERT_NE(address, nullptr) << name;
      EXPECT_EQ(*address, *tasks.items()[i].AsString()) << name;
    }
    for (const auto& [index, text] : tasks.members()) {
      const std::string* address = config.Address(role, std::stoi(index));
      ASSERT_NE(address, nullptr) << name;
      EXPECT_EQ(*address, *text.AsString()) << name;
    }
  }
  EXPECT_EQ(roles, config.cluster.size()) << name;
}

TEST(TfConfig_OfGoldenTexts, IsReadAsTensorFlowReadsIt) {
  const Json golden = ReadGolden("tf_config.json");
  ASSERT_NE(golden.Find("cases"), nullptr);
  int same = 0;
  int refused = 0;
  for (const Json& one : golden.Find("cases")->items()) {
    const std::string& name = *one.Find("case")->AsString();
    const std::string* text = one.Find("TF_CONFIG")->AsString();
    if (text == nullptr) continue;  // the variable is not set
    const auto config = ParseTfConfig(*text);
    bool tensorflow_fails = IsError(*one.Find("ps_strategy_v2_validation"));
    for (const std::string_view key : {"task_type", "task_id", "rpc_layer", "cluster_spec"}) {
      tensorflow_fails = tensorflow_fails || IsError(*one.Find(key));
    }
    if (!config.ok()) {
      EXPECT_TRUE(tensorflow_fails || kStricter.contains(name))
          << name << ": " << config.status().ToString();
      ++refused;
      continue;
    }
    EXPECT_FALSE(kStricter.contains(name)) << name;
    if (name == "sparseCluster kubeflow") {  // TensorFlow does not know it
      const Json written = ParseJson(*text).value();
      ExpectSameCluster(*written.Find("sparseCluster"), *config, name);
      continue;
    }
    ASSERT_FALSE(IsError(*one.Find("task_type"))) << name;
    ASSERT_FALSE(IsError(*one.Find("task_id"))) << name;
    ASSERT_FALSE(IsError(*one.Find("cluster_spec"))) << name;
    EXPECT_EQ(config->task_type, *one.Find("task_type")->AsString()) << name;
    EXPECT_EQ(config->task_index, one.Find("task_id")->AsInt64()) << name;
    const Json& rpc_layer = *one.Find("rpc_layer");
    EXPECT_EQ(config->rpc_layer, rpc_layer.is_string() ? *rpc_layer.AsString() : "") << name;
    ExpectSameCluster(*one.Find("cluster_spec")->Find("as_dict"), *config, name);
    ++same;
  }
  EXPECT_GE(same, 30);
  EXPECT_GE(refused, 25);
}

}  // namespace
}  // namespace pstrain
