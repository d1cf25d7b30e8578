#pragma once

#include <zlib.h>

#include <string>

namespace pstrain {

inline void WriteGzipFile(const std::string& path, const std::string& content) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
}

}  // namespace pstrain
