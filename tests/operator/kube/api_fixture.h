#pragma once

#include <string>
#include <utility>

#include "base/text/json.h"
#include "operator/kube/api_client.h"
#include "operator/kube/object_meta.h"
#include "operator/kube/rate_limiter.h"
#include "tests/testing/fake_apiserver.h"
#include "tests/testing/in_process_transport.h"
#include "tests/testing/recording_pause.h"

namespace pstrain::kube {

/// A client in front of a FakeApiserver in the same process; its retries do not wait.
class ApiFixture {
 public:
  explicit ApiFixture(ApiClient::Options options = {})
      : transport_(server_),
        limiter_({.per_second = 1e6,
                  .burst = 1'000'000,
                  .permits = 16,
                  .lease_permits = 2,
                  .longest_hold = std::chrono::nanoseconds(0)}),
        client_(transport_, limiter_, pause_, options) {}

  testing::FakeApiserver& server() { return server_; }
  const testing::FakeApiserver& server() const { return server_; }
  testing::InProcessTransport& transport() { return transport_; }
  RateLimiter& limiter() { return limiter_; }
  testing::RecordingPause& pause() { return pause_; }
  ApiClient& client() { return client_; }

 private:
  testing::FakeApiserver server_;
  testing::InProcessTransport transport_;
  RateLimiter limiter_;
  testing::RecordingPause pause_;
  ApiClient client_;
};

/// An object of that name in namespace "ns", with a label app=`app` and, unless it is empty, a
/// controller of that uid.
inline Json TestObject(const std::string& name, const std::string& app = "a",
                       const std::string& owner_uid = "") {
  Json labels = Json::Object();
  labels.Set("app", Json::String(app));
  Json metadata = Json::Object();
  metadata.Set("name", Json::String(name));
  metadata.Set("namespace", Json::String("ns"));
  metadata.Set("labels", std::move(labels));
  if (!owner_uid.empty()) {
    Json owners = Json::Array();
    owners.Append(ControllerReference({"v1", "Owner", "owner", owner_uid, true}));
    metadata.Set("ownerReferences", std::move(owners));
  }
  Json object = Json::Object();
  object.Set("metadata", std::move(metadata));
  return object;
}

}  // namespace pstrain::kube
