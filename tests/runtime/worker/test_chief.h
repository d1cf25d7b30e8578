#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "proto/contract/control.grpc.pb.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/grpc/server.h"

namespace pstrain {

/// A chief that keeps the polls and answers them as the test says.
class TestChief final : public ChiefControl::Service {
 public:
  using Answer = std::function<void(const PollWorkerRequest& poll, PollWorkerReply* reply)>;

  explicit TestChief(Answer answer) : answer_(std::move(answer)) {
    auto started = GrpcServer::Start("127.0.0.1:0", {.services = {this}});
    EXPECT_TRUE(started.ok()) << started.status().ToString();
    server_ = std::move(started).value();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(server_->port()); }

  grpc::Status Hello(grpc::ServerContext*, const HelloRequest*, HelloReply* reply) override {
    reply->set_chief_term(1);
    return grpc::Status::OK;
  }
  grpc::Status PollWorker(grpc::ServerContext*, const PollWorkerRequest* request,
                          PollWorkerReply* reply) override {
    const MutexLock lock(mutex_);
    polls_.push_back(*request);
    reply->set_chief_term(1);
    reply->set_directive(CONTINUE);
    reply->set_sequence(request->sequence());
    answer_(*request, reply);
    changed_.NotifyAll();
    return grpc::Status::OK;
  }

  std::vector<PollWorkerRequest> polls() {
    const MutexLock lock(mutex_);
    return polls_;
  }
  bool WaitForPolls(std::size_t count) {
    const SteadyTime deadline = SteadyNow() + std::chrono::seconds(30);
    const MutexLock lock(mutex_);
    while (polls_.size() < count && changed_.WaitUntil(mutex_, deadline)) {
    }
    return polls_.size() >= count;
  }

 private:
  const Answer answer_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<PollWorkerRequest> polls_ PSTRAIN_GUARDED_BY(mutex_);
  std::unique_ptr<GrpcServer> server_;
};

inline void AddGrant(WorkId work_id, PollWorkerReply* reply) {
  ToWire(work_id, reply->add_grants()->mutable_work_id());
}

}  // namespace pstrain
