#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/os/files.h"
#include "base/text/json.h"

namespace pstrain {

/// The file of golden vectors of that name: below PSTRAIN_GOLDEN_DIR where it is set, so that other
/// vectors of the same format can be run, else below tests/golden. A test that gets null has
/// failed.
inline Json ReadGolden(const std::string& name) {
  const char* folder = std::getenv("PSTRAIN_GOLDEN_DIR");
  const std::string path =
      (folder != nullptr ? std::string(folder) : PSTRAIN_SOURCE_DIR "/tests/golden") + "/" + name;
  const Result<std::string> text = ReadFile(path);
  if (!text.ok()) {
    ADD_FAILURE() << text.status().ToString();
    return {};
  }
  Result<Json> json = ParseJson(*text);
  if (!json.ok()) {
    ADD_FAILURE() << path << ": " << json.status().ToString();
    return {};
  }
  return *json;
}

}  // namespace pstrain
