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
#include "proto/contract/control.pb.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/grpc/control_service.h"
#include "runtime/rpc/grpc/server.h"

namespace pstrain {

/// A chief that keeps the polls and answers them as the test says.
class TestChief final : public ControlService {
 public:
  using Answer = std::function<void(const PollWorkerRequest& poll, PollWorkerReply* reply)>;

  /// `verifier`: null when it asks nobody who they are; outlives it.
  explicit TestChief(Answer answer, CallerVerifier* verifier = nullptr)
      : ControlService("pstrain.ChiefControl"), answer_(std::move(answer)) {
    constexpr std::uint64_t kMostBytes = 1 << 20;
    Serve("Hello", {Role::kWorker}, kMostBytes, &TestChief::Hello);
    Serve("PollWorker", {Role::kWorker}, kMostBytes, &TestChief::PollWorker);
    ServeLater("AwaitWork", {Role::kWorker}, kMostBytes, &TestChief::AwaitWork);
    auto started = GrpcServer::Start(
        "127.0.0.1:0", {.services = {this},
                        .verifier = verifier,
                        .options = {.on_error = [this](const std::string&, const Status&) {
                          const MutexLock lock(mutex_);
                          ++refused_;
                          changed_.NotifyAll();
                        }}});
    EXPECT_TRUE(started.ok()) << started.status().ToString();
    server_ = std::move(started).value();
  }
  /// The server waits for its calls.
  ~TestChief() override { Tell(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(server_->port()); }

  Status Hello(const ControlPeer&, const HelloRequest&, HelloReply* reply) {
    reply->set_chief_term(1);
    return OkStatus();
  }
  Status PollWorker(const ControlPeer&, const PollWorkerRequest& request, PollWorkerReply* reply) {
    const MutexLock lock(mutex_);
    if (!refusal_.ok()) return refusal_;
    polls_.push_back(request);
    reports_ += request.reports_size();
    reply->set_chief_term(1);
    reply->set_directive(CONTINUE);
    reply->set_sequence(request.sequence());
    answer_(request, reply);
    changed_.NotifyAll();
    return OkStatus();
  }

  /// Answers each poll from now on with this error.
  void Refuse(Status refusal) {
    const MutexLock lock(mutex_);
    refusal_ = std::move(refusal);
  }

  /// Keeps the call until Tell.
  Status AwaitWork(const ControlPeer&, const AwaitWorkRequest& request,
                   std::function<void()> done) {
    {
      const MutexLock lock(mutex_);
      awaited_.push_back(request);
      waiting_.push_back(std::move(done));
      changed_.NotifyAll();
      if (!told_) return OkStatus();
    }
    Tell();
    return OkStatus();
  }
  /// Answers all calls of AwaitWork, now and later.
  void Tell() {
    {
      const MutexLock lock(mutex_);
      told_ = true;
    }
    TellOnce();
  }
  /// Answers the calls of AwaitWork that wait now.
  void TellOnce() {
    std::vector<std::function<void()>> waiting;
    {
      const MutexLock lock(mutex_);
      waiting.swap(waiting_);
    }
    for (const std::function<void()>& done : waiting) done();
  }
  /// All calls of AwaitWork so far, once there are so many.
  std::vector<AwaitWorkRequest> WaitForAwaited(std::size_t count = 1) {
    const SteadyTime deadline = SteadyNow() + std::chrono::seconds(30);
    const MutexLock lock(mutex_);
    while (awaited_.size() < count && changed_.WaitUntil(mutex_, deadline)) {
    }
    return awaited_;
  }

  std::vector<PollWorkerRequest> polls() {
    const MutexLock lock(mutex_);
    return polls_;
  }
  /// Until so many reports have come.
  bool WaitForReports(int count) {
    const SteadyTime deadline = SteadyNow() + std::chrono::seconds(30);
    const MutexLock lock(mutex_);
    while (reports_ < count && changed_.WaitUntil(mutex_, deadline)) {
    }
    return reports_ >= count;
  }
  bool WaitForPolls(std::size_t count) {
    const SteadyTime deadline = SteadyNow() + std::chrono::seconds(30);
    const MutexLock lock(mutex_);
    while (polls_.size() < count && changed_.WaitUntil(mutex_, deadline)) {
    }
    return polls_.size() >= count;
  }
  /// Until so many calls have been refused.
  bool WaitForRefused(int count) {
    const SteadyTime deadline = SteadyNow() + std::chrono::seconds(30);
    const MutexLock lock(mutex_);
    while (refused_ < count && changed_.WaitUntil(mutex_, deadline)) {
    }
    return refused_ >= count;
  }

 private:
  const Answer answer_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<PollWorkerRequest> polls_ PSTRAIN_GUARDED_BY(mutex_);
  Status refusal_ PSTRAIN_GUARDED_BY(mutex_);
  int reports_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  int refused_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::vector<AwaitWorkRequest> awaited_ PSTRAIN_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> waiting_ PSTRAIN_GUARDED_BY(mutex_);
  bool told_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::unique_ptr<GrpcServer> server_;
};

inline void AddGrant(WorkId work_id, PollWorkerReply* reply) {
  ToWire(work_id, reply->add_grants()->mutable_work_id());
}

}  // namespace pstrain
