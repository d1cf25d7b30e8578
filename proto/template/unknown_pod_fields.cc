#include "proto/template/unknown_pod_fields.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text/edit_distance.h"
#include "proto/job/manifest_path.h"
#include "proto/job/schema.h"
#include "proto/template/pod_field_names.h"
#include "proto/template/shared_template.h"

namespace pstrain {
namespace {

class Finder {
 public:
  explicit Finder(const Json& tree) : tree_(tree) {}

  /// `object` is of that type, and stands at `path`.
  void Look(const Json& object, std::string_view type, const std::string& path) {
    const std::vector<PodField>* fields = FieldsOfPodType(type);
    if (fields == nullptr) return;
    for (const Json::Member& member : object.members()) {
      const std::string here = JoinMember(path, member.first);
      const auto field = std::ranges::find(*fields, member.first, &PodField::name);
      if (field == fields->end()) {
        Report(here, type, *fields, member.first);
      } else if (!field->is_list) {
        Look(member.second, field->type, here);
      } else {
        for (std::size_t i = 0; i < member.second.items().size(); ++i) {
          Look(member.second.items()[i], field->type, JoinIndex(here, i));
        }
      }
    }
  }

  std::vector<ManifestError> TakeWarnings() { return std::move(warnings_); }

 private:
  void Report(const std::string& path, std::string_view type, const std::vector<PodField>& fields,
              std::string_view name) {
    std::vector<std::string> names;
    names.reserve(fields.size());
    for (const PodField& field : fields) names.emplace_back(field.name);
    std::string text = "warning: Kubernetes " + std::string(kPodFieldsVersion) +
                       " knows no such field of " + std::string(type);
    const std::string near = NearestName(name, names);
    if (!near.empty()) text += "; did you mean \"" + near + "\"?";
    warnings_.push_back({.line = LineAt(tree_, path), .path = path, .message = std::move(text)});
  }

  const Json& tree_;
  std::vector<ManifestError> warnings_;
};

}  // namespace

std::vector<ManifestError> UnknownPodFields(const PSTrainingJob& job, const Json& tree) {
  Finder finder(tree);
  for (const PodTemplateText& text : TemplatesOf(job.spec())) {
    const auto pod = ParseJson(*text.json);
    if (pod.ok()) finder.Look(*pod, kPodTemplateType, text.path);
  }
  std::vector<ManifestError> warnings = finder.TakeWarnings();
  std::ranges::sort(warnings, {}, [](const ManifestError& warning) {
    return std::tie(warning.line, warning.path);
  });
  return warnings;
}

}  // namespace pstrain
