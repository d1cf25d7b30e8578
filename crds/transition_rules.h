#pragma once

#include "base/text/json.h"

namespace pstrain {

/// The rules by which an apiserver refuses to change the fixed fields (proto/job/fixed_fields.h) of
/// a job that has started: CEL over self and oldSelf for the root of the schema, with the words
/// that the runtime refuses a resume with; and where the run is kept. A job has started when its
/// chief has said how many examples there are: then the run directory holds the same fields. And
/// the rules by which fields change only while the job is suspended. Pure; any thread.
///
/// An update between the chief's description of the run and the status that has its number passes;
/// the chief refuses it by that description (RunDirectory::CheckJob, Chief::RegisterPs). The phase
/// would not close that gap, as the operator learns that a pod runs only after it runs. And it
/// would fix the fields of jobs that no chief has described, where a person has to be able to
/// correct them: it is Running as soon as any replica is.
Json TransitionRules();

}  // namespace pstrain
