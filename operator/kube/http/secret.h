#pragma once

#include <string>
#include <utility>

namespace pstrain::kube {

/// A token or key that must not reach a log: whoever needs the text calls Reveal(). A value. Any
/// number of threads may read one.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}

  bool empty() const { return text_.empty(); }
  /// The text itself; only for the place that hands it to the server or to the TLS library.
  const std::string& Reveal() const { return text_; }
  /// What may be printed: "***", or "" for an empty one.
  const char* ToString() const { return text_.empty() ? "" : "***"; }

  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  std::string text_;
};

}  // namespace pstrain::kube
