#include "runtime/checkpoint/checked_message.h"

#include <cstdint>
#include <cstring>

#include "base/crc32c.h"

namespace pstrain {

std::string CheckedMessage(std::string_view magic, std::string_view message) {
  const std::uint32_t words[2] = {Crc32c(message), 0};
  std::string bytes(magic);
  bytes.append(reinterpret_cast<const char*>(words), sizeof(words));
  bytes.append(message);
  return bytes;
}

Result<std::string_view> OpenCheckedMessage(std::string_view magic, std::string_view bytes,
                                            const char* what) {
  std::uint32_t words[2] = {0, 0};
  if (bytes.size() < magic.size() + sizeof(words) || !bytes.starts_with(magic)) {
    return DataLossError(std::string("truncated or not a ") + what);
  }
  std::memcpy(words, bytes.data() + magic.size(), sizeof(words));
  const std::string_view message = bytes.substr(magic.size() + sizeof(words));
  if (Crc32c(message) != words[0]) return DataLossError("corrupt, its checksum differs");
  return message;
}

}  // namespace pstrain
