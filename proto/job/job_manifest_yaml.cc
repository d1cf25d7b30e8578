#include "proto/job/job_manifest_yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <optional>
#include <set>
#include <streambuf>
#include <string>
#include <utility>

#include "proto/job/manifest_path.h"
#include "proto/job/yaml_scalar.h"

namespace pstrain {
namespace {

/// As base/json's: lists and mappings inside one another.
constexpr std::size_t kMaxDepth = 64;
/// More errors than this are not collected: the rest would be noise.
constexpr std::size_t kMaxErrors = 100;

/// Builds the tree from the parser's events. Owned by ReadYaml, for one document.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(YamlReading& reading) : reading_(reading) {}

  void OnDocumentStart(const YAML::Mark& mark) override { begin_ = mark; }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    RefuseAnchor(mark, anchor);
    if (KeyIsNext()) return RefuseKey(mark);
    Add(mark, Json::Null());
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Report(mark, "aliases are not admitted; write the value out");
    if (KeyIsNext()) return RefuseKey(mark);
    Add(mark, Json::Null());
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    RefuseAnchor(mark, anchor);
    const bool plain = tag == "?" || tag.empty();
    if (!plain && tag != "!") Report(mark, "tags are not admitted");
    if (KeyIsNext()) return TakeKey(mark, value, plain);
    if (!plain) return Add(mark, Json::String(value));
    auto resolved = ResolvePlainScalar(value);
    if (!resolved.ok()) Report(mark, resolved.status().message());
    Add(mark, resolved.ok() ? std::move(resolved).value() : Json::Null());
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, Json::Array());
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, Json::Object());
  }
  void OnMapEnd() override { Close(); }

  /// Where the document began.
  const YAML::Mark& begin() const { return begin_; }

 private:
  /// A list or mapping that has not ended. `key` is set between a key and its value.
  struct Frame {
    Json value;
    std::optional<std::string> key;
    int key_line = 0;
    int key_column = 0;
    bool drop_value = false;
    std::set<std::string> keys;
  };

  bool KeyIsNext() const {
    return skipped_ == 0 && !frames_.empty() && frames_.back().value.is_object() &&
           !frames_.back().key;
  }

  std::string Path() const {
    std::string path;
    for (const Frame& frame : frames_) {
      if (frame.value.is_array()) path = JoinIndex(path, frame.value.size());
      if (frame.key) path = JoinMember(path, *frame.key);
    }
    return path;
  }

  void Report(const YAML::Mark& mark, std::string text) {
    if (reading_.errors.size() >= kMaxErrors) return;
    reading_.errors.push_back({.line = mark.line + 1, .path = Path(), .message = std::move(text)});
  }

  void RefuseAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) Report(mark, "anchors are not admitted");
  }

  void RefuseKey(const YAML::Mark& mark) {
    Report(mark, "a key must be text");
    frames_.back().key.emplace();
    frames_.back().drop_value = true;
  }

  void TakeKey(const YAML::Mark& mark, const std::string& key, bool plain) {
    Frame& frame = frames_.back();
    if (plain && key == "<<") {
      Report(mark, "merge keys are not admitted; write the fields out");
    } else if (plain && !IsTextKey(key)) {
      Report(mark, "the key " + key + " must be in quotes");
    }
    const bool is_new = frame.keys.insert(key).second;
    if (!is_new) Report(mark, "the key \"" + key + "\" is there twice");
    frame.key = key;
    frame.key_line = mark.line + 1;
    frame.key_column = mark.column + 1;
    frame.drop_value = !is_new;
  }

  /// Numbers become text as they stand; true, null and words that are read differently do not.
  static bool IsTextKey(const std::string& key) {
    const auto resolved = ResolvePlainScalar(key);
    return resolved.ok() && (resolved->is_string() || resolved->is_integer());
  }

  void Add(const YAML::Mark& mark, Json value) {
    if (skipped_ > 0) return;
    value.set_position(mark.line + 1, mark.column + 1);
    Place(std::move(value));
  }

  void Place(Json value) {
    if (frames_.empty()) {
      reading_.tree = std::move(value);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.value.is_array()) {
      frame.value.Append(std::move(value));
      return;
    }
    value.set_position(frame.key_line, frame.key_column);
    if (!frame.drop_value) {
      frame.value.mutable_members().emplace_back(std::move(*frame.key), std::move(value));
    }
    frame.key.reset();
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Json value) {
    RefuseAnchor(mark, anchor);
    if (!tag.empty() && tag != "?") Report(mark, "tags are not admitted");
    if (skipped_ > 0) {
      ++skipped_;
      return;
    }
    if (KeyIsNext()) {
      RefuseKey(mark);
      frames_.back().key.reset();
      skipped_ = 1;
      skipped_is_key_ = true;
      return;
    }
    if (frames_.size() == kMaxDepth) {
      reading_.errors.push_back(
          {.line = mark.line + 1, .message = "lists and mappings are nested too deep"});
      skipped_ = 1;
      skipped_is_key_ = false;
      return;
    }
    value.set_position(mark.line + 1, mark.column + 1);
    Frame frame;
    frame.value = std::move(value);
    frames_.push_back(std::move(frame));
  }

  void Close() {
    if (skipped_ > 0) {
      if (--skipped_ > 0) return;
      if (skipped_is_key_) {
        frames_.back().key.emplace();
        frames_.back().drop_value = true;
      } else {
        Place(Json::Null());
      }
      return;
    }
    Json value = std::move(frames_.back().value);
    frames_.pop_back();
    Place(std::move(value));
  }

  YamlReading& reading_;
  YAML::Mark begin_ = YAML::Mark::null_mark();
  std::vector<Frame> frames_;
  /// Open containers inside one that is left out.
  int skipped_ = 0;
  bool skipped_is_key_ = false;
};

/// Reads a view without a copy.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // the get area is never written
    setg(begin, begin, begin + text.size());
  }
};

/// The first line, from 1, whose indentation has a tab; 0 when none has. YAML 1.2, 6.1.
int LineIndentedByTab(std::string_view text) {
  int line = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t first = text.find_first_not_of(' ');
    if (first != std::string_view::npos && text[first] == '\t') return line;
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return 0;
}

ManifestError NotYaml(std::string_view text, const YAML::Exception& error) {
  // What the parser says of a tab is about the line behind it.
  const int tab = LineIndentedByTab(text);
  if (tab > 0) return {.line = tab, .message = "is indented by a tab; YAML admits spaces alone"};
  return {.line = error.mark.is_null() ? 0 : error.mark.line + 1,
          .message = "is not YAML: " + error.msg};
}

/// A reading for each document; what cannot be parsed ends the list with a reading of its own. The
/// parser takes a document that begins with a sign which no document can begin with, as a comma,
/// for an empty one, and does not go on: it would give that without end.
std::vector<YamlReading> ReadDocuments(std::string_view text) {
  std::vector<YamlReading> readings;
  if (text.starts_with("\xEF\xBB\xBF") || !IsCleanText(text)) {
    readings.push_back({.tree = {},
                        .errors = {{.message = "the text must be UTF-8 without control characters "
                                               "and byte-order mark"}}});
    return readings;
  }
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  YamlReading reading;
  try {
    YAML::Parser parser(stream);
    YAML::Mark before = YAML::Mark::null_mark();
    for (;;) {
      TreeBuilder builder(reading);
      if (!parser.HandleNextDocument(builder)) return readings;
      if (builder.begin().pos == before.pos) {
        throw YAML::ParserException(before, "a document cannot begin like this");
      }
      before = builder.begin();
      readings.push_back(std::exchange(reading, {}));
    }
  } catch (const YAML::Exception& error) {
    reading.errors.push_back(NotYaml(text, error));
    readings.push_back(std::move(reading));
  }
  return readings;
}

bool IsEmptyDocument(const YamlReading& reading) {
  return reading.tree.is_null() && reading.errors.empty();
}

/// An object of Kubernetes that is no job.
bool IsAnotherObject(const YamlReading& reading) {
  const auto text_of = [&reading](std::string_view field) {
    const Json* value = reading.tree.is_object() ? reading.tree.Find(field) : nullptr;
    return value == nullptr ? nullptr : value->AsString();
  };
  const std::string* const kind = text_of("kind");
  return text_of("apiVersion") != nullptr && kind != nullptr && *kind != "PSTrainingJob";
}

/// The first of `readings`, which says so when there are more.
YamlReading TheOnly(std::vector<YamlReading> readings, std::string_view what) {
  if (readings.empty()) return {};
  YamlReading first = std::move(readings.front());
  if (readings.size() == 1) return first;
  const YamlReading& second = readings[1];
  first.errors.push_back({.line = second.tree.line(), .message = std::string(what)});
  // Where its text ends is the only place that is known of what is not YAML.
  if (second.tree.line() == 0 && !second.errors.empty()) first.errors.back() = second.errors.back();
  return first;
}

}  // namespace

YamlReading ReadYaml(std::string_view text) {
  return TheOnly(ReadDocuments(text), "one document is admitted, this is a second");
}

YamlReading ReadYamlOfJob(std::string_view text) {
  std::vector<YamlReading> readings = ReadDocuments(text);
  if (readings.size() > 1) {
    std::erase_if(readings, IsEmptyDocument);
    std::erase_if(readings, IsAnotherObject);
    if (readings.empty())
      return {.tree = {}, .errors = {{.message = "no document is a PSTrainingJob"}}};
  }
  return TheOnly(std::move(readings),
                 "one job is admitted; this document is a second, or lacks the apiVersion and kind "
                 "of another object");
}

}  // namespace pstrain
