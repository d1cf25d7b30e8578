#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/rpc/identity/caller.h"
#include "runtime/wire/data_op.h"

namespace pstrain {

/// The data plane's method: a stream of frames.
inline constexpr char kStream[] = "/pstrain.DataPlane/Stream";

/// What a method's request says of who asks: a caller may only speak for itself.
enum class Names : std::uint8_t { kNobody, kIndex, kIndexAndAttempt };

/// Who may call a method.
struct Method {
  const char* name;
  Audience audience;
  std::vector<Role> roles;
  Names names = Names::kNobody;
};

/// All that a chief and a ps serve.
const std::vector<Method>& Methods();

/// What is worst to believe from somebody who may not call the method: a request that ends the job
/// or takes a replica's place, one whose texts are too long and one of replicas that the job does
/// not have; of the stream a frame of each op.
std::vector<std::string> WorstRequests(const Method& method);

/// A frame of the data plane.
std::string Frame(DataOp op, const std::string& body);

/// Bytes that are no protobuf message of any kind.
std::vector<std::string> MalformedMessages();
/// Messages of a stream that are no frames of a request.
std::vector<std::string> MalformedFrames();

/// A request of the data plane that nobody of ours sends, in a frame that is well.
struct MalformedBody {
  /// Who may send that op.
  Role role;
  DataOp op;
  std::string body;
};
std::vector<MalformedBody> MalformedBodies();

/// Requests of shard 0 that a worker would send of a variable which the chief has declared and the
/// ps has not heard of yet; no chief has declared this one.
std::string PullOfAnUndeclaredVariable();
std::string PushOfAnUndeclaredVariable();

}  // namespace pstrain
