#include "operator/job/build/env_entry.h"

#include <utility>

#include "operator/job/build/template_merge.h"

namespace pstrain::job {

Json EnvValue(std::string_view name, std::string_view value) {
  Json entry = Json::Object();
  entry.Set("name", Text(name));
  entry.Set("value", Text(value));
  return entry;
}

Json EnvFromConfigMap(std::string_view name, std::string_view config_map, std::string_view key) {
  Json reference = Json::Object();
  reference.Set("name", Text(config_map));
  reference.Set("key", Text(key));
  Json source = Json::Object();
  source.Set("configMapKeyRef", std::move(reference));
  Json entry = Json::Object();
  entry.Set("name", Text(name));
  entry.Set("valueFrom", std::move(source));
  return entry;
}

}  // namespace pstrain::job
