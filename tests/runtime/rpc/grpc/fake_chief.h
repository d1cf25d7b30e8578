#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/contract/control.pb.h"
#include "runtime/rpc/grpc/control_service.h"
#include "runtime/rpc/grpc/server.h"

namespace pstrain {

/// The control plane of a chief, for tests of what a replica makes of its answers: says that its
/// term is 1, and otherwise what the derived class serves.
class FakeChief : public ControlService {
 public:
  std::string address() const { return "127.0.0.1:" + std::to_string(server_->port()); }

 protected:
  static constexpr std::uint64_t kMostBytes = 1 << 20;

  /// `roles`: that may call Hello; empty: any.
  explicit FakeChief(std::vector<Role> roles = {}) : ControlService("pstrain.ChiefControl") {
    Serve("Hello", std::move(roles), kMostBytes, &FakeChief::Hello);
  }
  /// Called once, when the derived class has said what it serves.
  void Start(GrpcServer::Services services = {}) {
    services.services = {this};
    auto started = GrpcServer::Start("127.0.0.1:0", services);
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    server_ = std::move(started).value();
  }
  /// Nobody is answered after this. The derived class calls it where it has state of its own.
  void Stop() { server_.reset(); }

 private:
  Status Hello(const ControlPeer&, const HelloRequest&, HelloReply* reply) {
    reply->set_chief_term(1);
    return OkStatus();
  }

  std::unique_ptr<GrpcServer> server_;
};

}  // namespace pstrain
