#include <gtest/gtest.h>
#include <pstrain/cluster_resolver.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/json.h"
#include "tests/testing/golden.h"

namespace pstrain {
namespace {

// What TensorFlow reads and we refuse as no JSON: listed in the header.
const std::set<std::string> kDeviations{"duplicate json keys", "nan index"};

Json AsJson(const std::string& value) { return Json::String(value); }
Json AsJson(int value) { return Json::Int(value); }
Json AsJson(bool value) { return Json::Bool(value); }
Json AsJson(const Accelerators& accelerators) {
  Json json = Json::Object();
  for (const auto& [kind, count] : accelerators) json.Set(kind, Json::Int(count));
  return json;
}
template <typename T>
Json AsJson(const std::optional<T>& value) {
  return value ? AsJson(*value) : Json::Null();
}

bool IsError(const Json& expected) {
  return expected.is_object() && expected.Find("error") != nullptr;
}

// The value that TensorFlow gave, or INVALID_ARGUMENT for its exception.
template <typename T>
void Expect(const Result<T>& ours, const Json& theirs, const std::string& where) {
  if (IsError(theirs)) {
    EXPECT_EQ(ours.status().code(), StatusCode::kInvalidArgument) << where;
    return;
  }
  ASSERT_TRUE(ours.ok()) << where << ": " << ours.status().ToString();
  EXPECT_EQ(WriteJson(AsJson(*ours)), WriteJson(theirs)) << where;
}

// A case, of which a part may be missing.
void ExpectMember(const auto& ours, const Json& one, std::string_view name,
                  const std::string& where) {
  const Json* theirs = one.Find(name);
  if (theirs != nullptr) Expect(ours, *theirs, where + ": " + std::string(name));
}

std::size_t TakeVarint(std::string_view& bytes) {
  std::size_t number = 0;
  for (int shift = 0; !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= static_cast<std::size_t>(byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  return number;
}

// The fields of a message that all have a length, tag and length included.
std::vector<std::string_view> FieldsOf(std::string_view message) {
  std::vector<std::string_view> fields;
  while (!message.empty()) {
    std::string_view rest = message.substr(1);
    const std::size_t size = TakeVarint(rest);
    fields.push_back(message.substr(0, message.size() - rest.size() + size));
    message.remove_prefix(fields.back().size());
  }
  return fields;
}

// A ClusterDef with the tasks of each job by index: that of the entries of a map is left open, and
// TensorFlow's has the last one first.
std::string InOrder(const std::string& cluster) {
  std::string ordered;
  for (const std::string_view job : FieldsOf(cluster)) {
    std::string_view members = job.substr(1);
    TakeVarint(members);
    ordered += job.substr(0, job.size() - members.size());
    std::vector<std::string_view> fields = FieldsOf(members);
    const auto first_task = std::ranges::find_if(
        fields, [](std::string_view field) { return field.front() != '\x0A'; });
    std::reverse(first_task, fields.end());
    for (const std::string_view field : fields) ordered += field;
  }
  return ordered;
}

void ExpectJobs(const ClusterSpec& spec, const Json& facts, const std::string& where) {
  EXPECT_EQ(!spec.empty(), facts.Find("bool")->AsBool()) << where;
  Json jobs = Json::Array();
  for (const std::string& job : spec.jobs()) jobs.Append(Json::String(job));
  EXPECT_EQ(jobs, *facts.Find("jobs")) << where;
  for (const auto& [job, tasks] : facts.Find("per_job")->members()) {
    Expect(spec.num_tasks(job), *tasks.Find("num_tasks"), where);
    Json indices = Json::Array();
    const std::vector<int> there = spec.task_indices(job).value();
    for (const int index : there) indices.Append(Json::Int(index));
    EXPECT_EQ(WriteJson(indices), WriteJson(*tasks.Find("task_indices"))) << where;
    const auto listed = spec.job_tasks(job);
    if (IsError(*tasks.Find("job_tasks"))) {
      EXPECT_EQ(listed.status().code(), StatusCode::kInvalidArgument) << where;
      continue;
    }
    Json addresses = Json::Array();
    for (const auto& address : listed.value()) addresses.Append(AsJson(address));
    EXPECT_EQ(addresses, *tasks.Find("job_tasks")) << where;
  }
}

// Without checks: the golden file's own.
std::string FromBase64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char letter : text.substr(0, text.find('='))) {
    bits = bits << 6 | static_cast<unsigned>(kAlphabet.find(letter));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count));
  }
  return bytes;
}

// What ParameterServerStrategy's constructor says, as a value: "ok" or an error.
Result<std::string> Checked(const Result<ClusterResolver>& resolver) {
  if (!resolver.ok()) return resolver.status();
  PSTRAIN_RETURN_IF_ERROR(resolver->CheckParameterServers());
  return std::string("ok");
}

void ExpectHelpers(const TfConfigClusterResolver& lenient, const Json& one,
                   const std::string& where) {
  const Result<ClusterResolver> resolver = lenient.Resolve();
  ExpectMember(Checked(resolver), one, "ps_strategy_v2_validation", where);
  const Status status = resolver.status();
  ExpectMember(resolver.ok() ? resolver->IsChief() : Result<bool>(status), one, "is_chief", where);
  ExpectMember(resolver.ok() ? resolver->IdInCluster() : Result<int>(status), one, "id_in_cluster",
               where);
  // TensorFlow asks for the count without the index; so it must not matter that it is unreadable.
  ClusterResolver::Task task;
  const Result<ClusterSpec> spec = lenient.cluster_spec();
  const Result<std::optional<std::string>> type = lenient.task_type();
  if (!spec.ok() || !type.ok()) return;
  task.cluster_spec = *spec;
  task.task_type = *type;
  ExpectMember(ClusterResolver(task).WorkerCount(), one, "worker_count", where);
}

void ExpectCase(const TfConfigClusterResolver& lenient, const Json& one, const std::string& where) {
  ExpectMember(lenient.task_type(), one, "task_type", where);
  ExpectMember(lenient.task_id(), one, "task_id", where);
  if (where != "rpc_layer number") ExpectMember(lenient.rpc_layer(), one, "rpc_layer", where);
  EXPECT_EQ(lenient.environment(),
            one.Find("environment")->is_null() ? "" : *one.Find("environment")->AsString());
  ExpectMember(lenient.Master(), one, "master", where);
  ClusterResolver::Asked worker1{.task_type = "worker", .task_id = 1};
  ExpectMember(lenient.Master(worker1), one, "master_worker_1", where);
  worker1.rpc_layer = "grpc";
  ExpectMember(lenient.Master(worker1), one, "master_worker_1_grpc", where);
  ExpectMember(lenient.NumAccelerators(), one, "num_accelerators", where);
  ExpectHelpers(lenient, one, where);
  const Json* facts = one.Find("cluster_spec");
  if (facts == nullptr) return;
  if (IsError(*facts)) {
    EXPECT_EQ(lenient.cluster_spec().status().code(), StatusCode::kInvalidArgument) << where;
    return;
  }
  ASSERT_TRUE(lenient.cluster_spec().ok()) << where;
  // The order of jobs does not count.
  Json jobs = *facts->Find("as_dict");
  std::ranges::sort(jobs.mutable_members(), {}, &Json::Member::first);
  EXPECT_EQ(lenient.cluster_spec()->ToJson(), WriteJson(jobs)) << where;
  EXPECT_EQ(lenient.cluster_spec()->ToClusterDef(),
            InOrder(FromBase64(*facts->Find("cluster_def_b64")->AsString())))
      << where;
  ExpectJobs(*lenient.cluster_spec(), *facts, where);
}

std::optional<std::string_view> TextOf(const Json& one) {
  const Json* text = one.Find("TF_CONFIG");
  if (text == nullptr || text->AsString() == nullptr) return std::nullopt;
  return *text->AsString();
}

// The vectors are of a machine without GPUs.
void HideGpus() { ASSERT_EQ(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0); }

TEST(TfConfigClusterResolver, AgainstTensorFlow_IsTheSame) {
  HideGpus();
  const Json golden = ReadGolden("tf_config.json");
  ASSERT_NE(golden.Find("cases"), nullptr);
  for (const Json& one : golden.Find("cases")->items()) {
    const std::string& name = *one.Find("case")->AsString();
    const TfConfigClusterResolver lenient(TextOf(one));
    if (kDeviations.contains(name)) {
      EXPECT_EQ(lenient.cluster_spec().status().code(), StatusCode::kInvalidArgument) << name;
      continue;
    }
    ExpectCase(lenient, one, name);
  }
  EXPECT_GT(golden.Find("cases")->size(), 50U);
}

TEST(TfConfigClusterResolver, WhenOverridden_AgainstTensorFlow_IsTheSame) {
  HideGpus();
  const Json golden = ReadGolden("tf_config.json");
  ASSERT_NE(golden.Find("ctor_overrides"), nullptr);
  std::size_t cases = 0;
  for (const Json& one : golden.Find("ctor_overrides")->items()) {
    TfConfigClusterResolver::Overrides overrides;
    for (const auto& [name, value] : one.Find("ctor")->members()) {
      if (name == "task_id") {
        // Python converts a text and a fraction; here it is an int.
        const auto number = value.AsInt64();
        overrides.task_id = number ? static_cast<int>(*number) : 1;
      } else {
        const std::string text = value.is_string() ? *value.AsString() : WriteJson(value);
        if (name == "task_type") overrides.task_type = text;
        if (name == "rpc_layer") overrides.rpc_layer = text;
        if (name == "environment") overrides.environment = text;
      }
    }
    ExpectCase(TfConfigClusterResolver(TextOf(one), overrides), one, WriteJson(*one.Find("ctor")));
    ++cases;
  }
  EXPECT_GT(cases, 5U);
}

constexpr std::string_view kText =
    R"({"cluster":{"chief":["c:1"],"ps":["p:1"],"worker":["w0:1","w1:1"]},)"
    R"("task":{"type":"worker","index":1},"rpc_layer":"grpc","environment":"cloud"})";

TEST(ClusterResolver, FromTfConfig_KnowsTaskAndCluster) {
  const ClusterResolver resolver = ClusterResolver::FromTfConfig(kText).value();
  EXPECT_EQ(resolver.task_type(), "worker");
  EXPECT_EQ(resolver.task_id(), 1);
  EXPECT_EQ(resolver.rpc_layer(), "grpc");
  EXPECT_EQ(resolver.environment(), "cloud");
  EXPECT_EQ(*resolver.cluster_spec().num_tasks("worker"), 2);
  EXPECT_EQ(*resolver.Master(), "grpc://w1:1");
  EXPECT_EQ(*resolver.Master({.task_type = "ps", .task_id = 0}), "grpc://p:1");
  EXPECT_TRUE(resolver.CheckParameterServers().ok());
}

TEST(ClusterResolver, FromTfConfig_IsStrict) {
  const std::string_view bad[] = {
      "",
      "{}",
      "[]",
      R"({"cluster":{"worker":["a:1"]}})",
      R"({"cluster":{"worker":["a:1"]},"task":{"type":"worker","index":1}})",
      R"({"cluster":{"worker":["a:1","a:1"]},"task":{"type":"worker","index":1}})",
      R"({"cluster":{"worker":["a"]},"task":{"type":"worker","index":0}})",
      R"({"cluster":{"worker":["a:99999"]},"task":{"type":"worker","index":0}})"};
  for (const std::string_view text : bad) {
    const Status status = ClusterResolver::FromTfConfig(text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_TRUE(status.message().starts_with("TF_CONFIG")) << status.message();
  }
}

TEST(ClusterResolver, FromTfConfig_ReadsASparseCluster) {
  const ClusterResolver resolver =
      ClusterResolver::FromTfConfig(
          R"({"sparseCluster":{"ps":["p:1"],"worker":{"1":"w1:1","10":"w10:1"}},)"
          R"("task":{"type":"worker","index":10}})")
          .value();
  EXPECT_EQ(*resolver.Master(), "w10:1");
  EXPECT_EQ(*resolver.cluster_spec().task_indices("worker"), (std::vector<int>{1, 10}));
  HideGpus();
  EXPECT_EQ(resolver.NumAccelerators({.task_id = 1}).status().code(),
            StatusCode::kFailedPrecondition)
      << "it is another task, though its name begins as the own one's";
}

TEST(ClusterResolver, WhenAnEvaluatorIsInTheCluster_ItIsNoneOfThoseThatTrain) {
  const ClusterResolver resolver =
      ClusterResolver::FromTfConfig(
          R"({"cluster":{"chief":["c:1"],"ps":["p:1"],"worker":["w:1"],"evaluator":["e:1"]},)"
          R"("task":{"type":"worker","index":0}})")
          .value();
  EXPECT_TRUE(resolver.CheckParameterServers().ok());
  EXPECT_EQ(*resolver.WorkerCount(), 2);
}

TEST(ClusterResolver, FromEnvironment_ReadsTfConfig) {
  ASSERT_EQ(unsetenv("TF_CONFIG"), 0);
  EXPECT_TRUE(ClusterResolver::FromEnvironment()->cluster_spec().empty());
  ASSERT_EQ(setenv("TF_CONFIG", std::string(kText).c_str(), 1), 0);
  EXPECT_EQ(ClusterResolver::FromEnvironment()->task_type(), "worker");
  ASSERT_EQ(setenv("TF_CONFIG", "", 1), 0);
  EXPECT_EQ(ClusterResolver::FromEnvironment().status().code(), StatusCode::kInvalidArgument);
  ASSERT_EQ(unsetenv("TF_CONFIG"), 0);
}

TEST(ClusterResolver, WithoutACluster_HasNoMasterAndRunsNoParameterServers) {
  EXPECT_EQ(*ClusterResolver().Master(), "");
  EXPECT_EQ(ClusterResolver().CheckParameterServers().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(*ClusterResolver().IsChief());
}

TEST(ClusterResolver, WhenGivenAll_IsTakenAsItIs) {
  const ClusterResolver resolver(
      {.cluster_spec = ClusterSpec::Of({{"ps", {"p:1"}}, {"worker", {"w:1", "v:1"}}}),
       .task_type = "worker",
       .task_id = 0,
       .session_master = "m:1"});
  EXPECT_EQ(*resolver.Master(), "m:1");
  EXPECT_TRUE(*resolver.IsChief());
  EXPECT_EQ(*resolver.WorkerCount(), 2);
  EXPECT_EQ(*resolver.IdInCluster(), 0);
}

TEST(ClusterResolver, NumAccelerators_AreThoseOfItsOwnTask) {
  HideGpus();
  const ClusterResolver worker = ClusterResolver::FromTfConfig(kText).value();
  EXPECT_EQ(worker.NumAccelerators().value(), Accelerators());
  EXPECT_EQ(worker.NumAccelerators({.task_type = "worker", .task_id = 1}).value(), Accelerators());
  EXPECT_EQ(ClusterResolver().NumAccelerators().value(), Accelerators());
  const Status other = worker.NumAccelerators({.task_type = "worker", .task_id = 0}).status();
  EXPECT_EQ(other.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(other.message().find("the worker 0 "), std::string::npos) << other.message();
  EXPECT_EQ(worker.NumAccelerators({.task_id = 0}).status(), other);
  EXPECT_EQ(worker.NumAccelerators({.task_type = "ps", .task_id = 0}).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(worker.NumAccelerators({.task_id = 7}).status().code(), StatusCode::kInvalidArgument)
      << "there is no such task";
}

TEST(ClusterResolver, NumAccelerators_WhenGivenCountForEveryTask) {
  const ClusterResolver resolver({.cluster_spec = ClusterSpec::Of({{"worker", {"w:1", "v:1"}}}),
                                  .num_accelerators = Accelerators{{"GPU", 4}}});
  EXPECT_EQ(resolver.NumAccelerators().value(), (Accelerators{{"GPU", 4}}));
  EXPECT_EQ(resolver.NumAccelerators({.task_type = "worker", .task_id = 1}).value(),
            (Accelerators{{"GPU", 4}}));
}

TEST(ClusterResolver, WhenTheTaskIsOutsideTheCluster_IsACoordinator) {
  const ClusterResolver resolver(
      {.cluster_spec = ClusterSpec::Of({{"ps", {"p:1"}}, {"worker", {"w:1"}}})});
  EXPECT_TRUE(resolver.CheckParameterServers().ok());
  EXPECT_EQ(resolver.Master().status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pstrain
