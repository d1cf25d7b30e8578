#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/text/json.h"
#include "operator/kube/list_reader.h"

/// Most inputs have bad items, which are told in the log.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  pstrain::SetLogLevel(pstrain::LogLevel::kError);
  return 0;
}

/// A page that is JSON as a whole gives the same items when it is read piece by piece; any other is
/// refused or read without harm. The first byte is the length of a piece.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = data[0] % 16U + 1U;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<pstrain::Json> items;
  pstrain::kube::ListReader reader([&items](const pstrain::Json& item) {
    items.push_back(item);
    return pstrain::OkStatus();
  });
  pstrain::Status status;
  for (std::size_t at = 0; at < text.size() && status.ok(); at += piece) {
    status = reader.Write(text.substr(at, piece));
  }
  if (status.ok()) status = reader.Finish();

  const auto whole = pstrain::ParseJson(text);
  if (!whole.ok() || !whole->is_object()) return 0;
  if (!status.ok()) std::abort();
  std::vector<pstrain::Json> expected;
  if (const pstrain::Json* list = whole->Find("items")) {
    for (const pstrain::Json& item : list->items()) {
      if (item.is_object()) expected.push_back(item);
    }
  }
  if (!(items == expected)) std::abort();
  return 0;
}
