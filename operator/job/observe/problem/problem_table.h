#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pstrain::job {

/// Every problem that keeps replicas from running their program, one row each: how Kubernetes says
/// it, what that means and what to do about it. docs/reference/problems.md is this table (a test
/// compares them). Constants and pure functions; any thread.

/// Where Kubernetes says it.
enum class ProblemSource : std::uint8_t {
  kScheduler,  // the condition PodScheduled, False
  kWaiting,    // a container's state.waiting
  kStart,      // a container's state.terminated, though nothing of its program ran
  kInit,       // state.terminated of an init container that failed
  kRefused,    // status.reason of a pod that the kubelet has failed before its program ran
  kSilence,    // nowhere: the pod has a node and nothing comes
  kCreate,     // the apiserver, which does not make an object
};

/// What is said of kSilence where something is known: the pod has its network and volumes, or a
/// sidecar is starting.
inline constexpr std::string_view kSandboxReady = "SandboxReady";
inline constexpr std::string_view kSidecarStarts = "SidecarStarts";
/// What is said of kCreate: HTTP's 403, or anything else.
inline constexpr std::string_view kForbidden = "Forbidden";

struct ProblemRow {
  ProblemSource source;
  /// The reasons that Kubernetes gives, with '|' between them; one that ends in '*' stands for all
  /// that begin so. Empty: any.
  std::string_view said;
  /// Parts of Kubernetes' message, with '|' between them, one of which is in it. Empty: any.
  std::string_view words;
  /// The reason of the condition Blocked. Empty: Kubernetes' own.
  std::string_view reason;
  std::string_view meaning;
  /// Empty: nothing is to be done. POD, CONTAINER and CLAIMS stand for names.
  std::string_view way_out;
};

/// Of several rows that fit, the first counts.
std::span<const ProblemRow> ProblemTable();

/// The row of what Kubernetes says; null when none fits.
const ProblemRow* FindProblemRow(ProblemSource source, std::string_view said,
                                 std::string_view message);

/// What the words in capitals of a way out stand for.
struct ProblemNames {
  std::string pod = {};
  std::string container = {};
  std::string claims = {};
};
std::string WayOut(const ProblemRow& row, const ProblemNames& names);

/// The table as Markdown, as it is in docs/reference/problems.md.
std::string WriteProblemTable();

}  // namespace pstrain::job
