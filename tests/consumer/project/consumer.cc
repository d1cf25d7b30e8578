// A program of somebody who has libpstrain installed. It ends with 0 when what it gets is right.
#include <pstrain/cluster_resolver.h>
#include <pstrain/dlpack.h>
#include <pstrain/partitioners.h>
#include <pstrain/values.h>

#include <cstdio>
#include <vector>

namespace {

using namespace pstrain;

// The rows of a table that each ps would hold, from the cluster that TF_CONFIG describes.
Result<Values> Plan() {
  PSTRAIN_ASSIGN_OR_RETURN(
      const ClusterResolver cluster,
      ClusterResolver::FromTfConfig(
          R"({"cluster":{"chief":["c:1"],"ps":["p:1","q:1"],"worker":["w:1"]},)"
          R"("task":{"type":"chief","index":0}})"));
  PSTRAIN_RETURN_IF_ERROR(cluster.CheckParameterServers());
  PSTRAIN_ASSIGN_OR_RETURN(const int ps, cluster.cluster_spec().num_tasks("ps"));
  const Partitioner partitioner = partitioners::FixedShardsPartitioner(ps);
  PSTRAIN_ASSIGN_OR_RETURN(const std::int64_t partitions,
                           partitioner.Partitions({6, 2}, DType::kFloat32));
  PSTRAIN_ASSIGN_OR_RETURN(
      const Tensor table,
      Tensor::From(Shape{6, 2}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  PSTRAIN_ASSIGN_OR_RETURN(dlpack::ManagedTensor * given, ToDlpack(table));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor taken, FromDlpack(given));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor second, taken.Slice(6 / partitions, 6));
  return Values{{"partitions", partitions}, {"second", second}};
}

}  // namespace

int main() {
  const Result<Values> plan = Plan();
  if (!plan.ok()) {
    std::fprintf(stderr, "%s\n", plan.status().ToString().c_str());
    return 1;
  }
  const Tensor expected = Tensor::From(Shape{3, 2}, std::vector<float>{6, 7, 8, 9, 10, 11}).value();
  const bool right = *plan == Values{{"partitions", std::int64_t{2}}, {"second", expected}};
  std::printf("%s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
