#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/job/psjob.pb.h"

namespace pstrain {

/// The manifest's view of a message type: names in lowerCamelCase. Pure; any thread.

/// The field of that manifest name; nullptr when there is none.
const google::protobuf::FieldDescriptor* FindManifestField(
    const google::protobuf::Descriptor& message, std::string_view name);

/// Whether `name` is a field that Kubernetes may write there and pstrain leaves alone
/// (ObjectMeta: k8s.io/apimachinery/pkg/apis/meta/v1/types.go).
bool IsLeftAlone(const google::protobuf::Descriptor& message, std::string_view name);

/// Manifest names of the fields, in declaration order.
std::vector<std::string> ManifestNames(const google::protobuf::Descriptor& message,
                                       bool with_test_only);

/// "unknown field; did you mean \"replicas\"?" when a name is near, else with the names there are.
std::string UnknownFieldMessage(const google::protobuf::Descriptor& message, std::string_view name,
                                bool with_test_only);

/// "a, b or c", with `last` for " or ".
std::string JoinNames(const std::vector<std::string>& names, std::string_view last = " or ");

/// The options of a field (bounds, default, pattern).
const FieldOptions& OptionsOf(const google::protobuf::FieldDescriptor& descriptor);

/// "replicaSpecs.worker.minReplicas" for "replica_specs.worker.min_replicas" of `message`, the way
/// a rule names its field.
std::string ManifestPathOf(const google::protobuf::Descriptor& message, std::string_view field);

/// Where an error of a rule of `message` is: ManifestPathOf its field, and inside that.
std::string PathOfRule(const google::protobuf::Descriptor& message, const Rule& rule);

/// The rules of `message`: its own, and where it has a template beside the roles' own ones, those
/// that ReplicaSpec has for a template.
std::vector<const Rule*> RulesOf(const google::protobuf::Descriptor& message);

/// Whether the message is a oneof and nothing else.
bool IsUnion(const google::protobuf::Descriptor& message);

}  // namespace pstrain
