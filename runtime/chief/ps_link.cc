#include "runtime/chief/ps_link.h"

#include <utility>

namespace pstrain {

PsLink::PsLink(std::string address, Incarnation incarnation)
    : address_(std::move(address)),
      incarnation_(incarnation),
      client_(address_),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

PsLink::~PsLink() { Cancel(); }

void PsLink::Cancel() {
  thread_.request_stop();
  client_.Cancel();
}

void PsLink::Post(Call call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(std::move(call));
  changed_.notify_all();
}

void PsLink::Run(const std::stop_token& stop) {
  while (true) {
    Call call;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !calls_.empty(); })) return;
      call = std::move(calls_.front());
      calls_.pop_front();
    }
    call(client_, stop);
  }
}

}  // namespace pstrain
