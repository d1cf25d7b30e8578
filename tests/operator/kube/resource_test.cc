#include "operator/kube/resource.h"

#include <gtest/gtest.h>

namespace pstrain::kube {
namespace {

TEST(Resource, Target_IsPercentEncoded) {
  EXPECT_EQ(RequestTarget(PodResource(), {"ns", "a"}, "status", {}),
            "/api/v1/namespaces/ns/pods/a/status");
  EXPECT_EQ(RequestTarget(NodeResource(), {"", "n"}, "", {}), "/api/v1/nodes/n");
  EXPECT_EQ(RequestTarget(LeaseResource(), {"ns", ""}, "", {{"a b", "c=d&e"}, {"f", ""}}),
            "/apis/coordination.k8s.io/v1/namespaces/ns/leases?a%20b=c%3Dd%26e&f=");
  EXPECT_EQ(RequestTarget(PodResource(), {"../x", ".."}, "", {}),
            "/api/v1/namespaces/..%2Fx/pods/%2E%2E");
  EXPECT_EQ(RequestTarget(PodResource(), {"", ""}, "", {}), "/api/v1/pods");
}

TEST(ObjectKey, Text_ReadsBack) {
  for (const ObjectKey& key : {ObjectKey{"ns", "a"}, ObjectKey{"", "a"}}) {
    EXPECT_EQ(ObjectKey::Parse(key.ToString()), key);
  }
}

}  // namespace
}  // namespace pstrain::kube
