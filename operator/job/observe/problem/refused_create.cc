#include "operator/job/observe/problem/refused_create.h"

#include <string_view>

#include "base/text/utf8.h"
#include "operator/job/observe/problem/problem_table.h"
#include "operator/kube/resource.h"

namespace pstrain::job {
namespace {

std::string Bounded(std::string_view words) {
  return std::string(Utf8Prefix(words, kLongestWords));
}

/// The field of a pod that an apiserver has refused: what it names as the cause, or as unknown.
std::string FieldOf(const kube::ApiError& error) {
  for (const kube::ApiCause& cause : error.causes) {
    if (!cause.field.empty()) return cause.field;
  }
  for (const std::string_view before : {"unknown field \"", "duplicate field \""}) {
    const std::size_t at = error.message.find(before);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + before.size();
    const std::size_t end = error.message.find('"', begin);
    if (end != std::string::npos) return error.message.substr(begin, end - begin);
  }
  return {};
}

}  // namespace

Problem ProblemOfRefusedCreate(const std::string& object, const kube::ApiError& error) {
  const std::string& words = error.Words();
  const bool forbidden = error.status.code() == StatusCode::kPermissionDenied;
  Problem problem{.reason = "CreateFailed", .message = object + ": " + Bounded(words)};
  const ProblemRow* row =
      FindProblemRow(ProblemSource::kCreate, forbidden ? kForbidden : std::string_view(), words);
  if (row == nullptr) return problem;
  problem.reason = row->reason;
  if (!row->way_out.empty()) problem.message.append("; ").append(row->way_out);
  return problem;
}

Problem ProblemOfRefusedPod(plan::Role role, const std::string& pod, const kube::ApiError& error) {
  if (error.status.code() != StatusCode::kInvalidArgument) {
    return ProblemOfRefusedCreate(kube::PodResource().kind + " " + pod, error);
  }
  std::string field = "spec.replicaSpecs." + std::string(plan::RoleName(role)) + ".template";
  if (const std::string inside = FieldOf(error); !inside.empty()) field += "." + inside;
  return {kInvalidTemplate, field + ": " + Bounded(error.Words()) + "; correct the template"};
}

}  // namespace pstrain::job
