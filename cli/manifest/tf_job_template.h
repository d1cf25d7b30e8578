#pragma once

#include <string>

#include "base/text/json.h"
#include "cli/manifest/tf_job_notes.h"

namespace pstrain {

/// The pod template of a role of a TFJob, at `path`, as one of a PSTrainingJob: without what
/// pstrain sets itself. Pure but for the notes; any thread, one for each list of notes.
Json ConvertTfJobTemplate(const Json& pod_template, const std::string& path,
                          ConversionNotes& notes);

}  // namespace pstrain
