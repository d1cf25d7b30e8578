#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// What of a job cannot change once it has started (FieldOptions.fixed in psjob.proto): a run and
/// its checkpoints remember it, replicas show its digests when they register, and the CRD refuses
/// an update of it. All else may change: numbers of ps and workers, epochs, evaluation, how often
/// checkpoints are taken, templates. Pure functions; any thread.

/// A field with FieldOptions.fixed.
struct FixedField {
  /// From JobSpec down.
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  /// As a manifest has it, e.g. "spec.training.features".
  std::string path;
  /// What cannot change and what to do instead.
  std::string_view message;
};
/// All of them, in the order of psjob.proto.
const std::vector<FixedField>& FixedFields();
/// Those with FieldOptions.fixed_in_cluster instead: where a run is kept, which is no part of what
/// it is. Only an apiserver refuses an update of them.
const std::vector<FixedField>& FieldsFixedInCluster();
/// Those with FieldOptions.immutable, from the creation of the job on. Only an apiserver refuses an
/// update of them.
const std::vector<FixedField>& ImmutableFields();
/// What a change of a field of `spec` does once the job has started.
enum class ChangeEffect : std::uint8_t {
  kFixed,           // refused: FieldOptions.fixed, fixed_in_cluster or immutable
  kWhileSuspended,  // refused while pods may run: FieldOptions.while_suspended
  kNewPods,         // FieldOptions.takes_effect NewPods
  kLive,            // FieldOptions.takes_effect Live
};
struct FieldChange {
  /// As a manifest has it. It stands for all fields below it.
  std::string path;
  ChangeEffect effect;
  /// Of a refusal, what to do instead.
  std::string_view message;
};
/// All of `spec`, each field once: by its own path, or by one above it below which all are alike.
/// A field without an effect is in `without_effect` instead, for a test to find it.
struct FieldChanges {
  std::vector<FieldChange> fields;
  std::vector<std::string> without_effect;
};
const FieldChanges& ChangesOfSpec();
/// Whether a field of this message, or below it, has FieldOptions.may_change.
bool HasExceptions(const google::protobuf::Descriptor& message);

/// The specification with nothing but its fixed fields.
JobSpec FixedPart(const JobSpec& spec);

/// FAILED_PRECONDITION when the fixed fields differ: the path of the first that does, what it was
/// and is, and what to do instead.
Status CheckFixed(const JobSpec& was, const JobSpec& is);

/// CRC-32C of a message; equal for equal ones.
std::uint32_t DigestOf(const google::protobuf::Message& message);

/// Of all that the scores of a run depend on and that may change: its evaluation.
std::uint32_t EvaluationDigest(const Training& training);

/// CRC-32C of each fixed field by its path; of a list, of each item.
using FixedDigests = std::map<std::string, std::uint32_t>;
FixedDigests DigestsOf(const JobSpec& spec);
/// As CheckFixed, for a replica that shows its digests to the chief. A path that does not begin
/// with "spec" names a part of a program (JobSettings::program).
Status CheckDigests(const FixedDigests& chief, const FixedDigests& replica);

}  // namespace pstrain
