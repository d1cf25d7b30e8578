#pragma once

#include <string>

namespace pstrain {

/// How messages call the fields of the job that they tell a person to look at or to change, as
/// "spec.training.peerTimeoutSeconds". Empty: this job has no such field, as a program whose roles
/// are its own threads; a message then goes without it. A value; any thread may read it.
struct JobFields {
  std::string checkpoint_directory = {};
  std::string epochs = {};
  std::string on_non_finite = {};
  std::string optimizer = {};
  std::string peer_timeout = {};
};

/// "FIELD VALUE"; "VALUE" where the job has no such field. Pure; so are those below.
inline std::string FieldAndValue(const std::string& field, const std::string& value) {
  return field.empty() ? value : field + " " + value;
}

/// How long something was waited for, after "within": "FIELD (60 s)", or "60 s".
inline std::string FieldOrTime(const std::string& field, const std::string& time) {
  return field.empty() ? time : field + " (" + time + ")";
}

/// The end of a sentence that has said what else helps: `text` and the field, or nothing.
inline std::string WithField(const std::string& text, const std::string& field) {
  return field.empty() ? std::string() : text + field;
}

}  // namespace pstrain
