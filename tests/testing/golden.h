#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/os/files.h"
#include "base/text/json.h"

namespace pstrain {

/// Where the file or folder of golden vectors of that name is: below PSTRAIN_GOLDEN_DIR where it is
/// set, so that other vectors of the same format can be run, else below tests/golden.
inline std::string GoldenPath(const std::string& name) {
  const char* folder = std::getenv("PSTRAIN_GOLDEN_DIR");
  return JoinPath(folder != nullptr ? folder : PSTRAIN_SOURCE_DIR "/tests/golden", name);
}

/// What is in a file. A test that gets null has failed.
inline Json ReadJsonFile(const std::string& path) {
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
inline Json ReadGolden(const std::string& name) { return ReadJsonFile(GoldenPath(name)); }

}  // namespace pstrain
