#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/rpc/identity/caller.h"
#include "runtime/rpc/pending_calls.h"
#include "runtime/rpc/transport.h"

namespace pstrain {

/// One transport of the table.
struct TransportLine {
  /// What comes before "://" in an address.
  std::string_view scheme;
  std::unique_ptr<Transport> (*make)(const std::shared_ptr<PendingCalls>& pending,
                                     const Credentials* credentials);
};

/// All transports of this build. Never empty.
std::span<const TransportLine> TransportTable();

/// Every transport behind one door: the scheme of an address chooses, and the address is passed on
/// unchanged.
///
///   grpc://HOST:PORT      gRPC; port 0 serves at a free one
///   HOST:PORT, unix:PATH  the same: an address whose scheme is not in the table belongs to the
///                         table's first line, which is gRPC where the build has it
///   in-process://NAME     peers that share this object; NAME is any text
///
/// A process makes one and hands it to who serves and who connects. One thread for the deadlines of
/// all. Any thread; outlives what it made.
class Transports final : public Transport {
 public:
  /// `credentials`: what connections show, where the transport carries it; null for none; outlive
  /// it.
  explicit Transports(const Credentials* credentials = nullptr);
  ~Transports() override;

  using Transport::Serve;
  Result<std::unique_ptr<TransportServer>> Serve(const std::string& address,
                                                 RequestHandler& handler,
                                                 const ServeOptions& options) override;
  std::unique_ptr<Connection> Connect(const std::string& address) override;

 private:
  Transport& Of(std::string_view address) const;

  /// In the order of the table.
  std::vector<std::unique_ptr<Transport>> transports_;
};

}  // namespace pstrain
