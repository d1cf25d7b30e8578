#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace pstrain {

enum class LogLevel : std::uint8_t { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

/// "debug", "info", "warning" or "error".
std::string_view LogLevelName(LogLevel level);
/// The reverse; nullopt for anything else.
std::optional<LogLevel> ParseLogLevel(std::string_view name);

/// One key=value of a log line. Lives only inside the call that takes it.
class LogField {
 public:
  LogField(std::string_view key, std::string_view value) : key_(key), value_(value) {}
  LogField(std::string_view key, const char* value) : key_(key), value_(value) {}
  LogField(std::string_view key, std::string value) : key_(key), value_(std::move(value)) {}
  LogField(std::string_view key, bool value) : key_(key), value_(value ? "true" : "false") {}
  template <std::integral T>
  LogField(std::string_view key, T value) : key_(key), value_(std::to_string(value)) {}
  LogField(std::string_view key, double value);
  /// The status as ToString() writes it.
  LogField(std::string_view key, const Status& value) : key_(key), value_(value.ToString()) {}

  std::string_view key() const { return key_; }
  const std::string& value() const { return value_; }

 private:
  std::string_view key_;
  std::string value_;
};

/// Lines below this level are dropped; info at the start. Any thread.
void SetLogLevel(LogLevel level);
LogLevel GetLogLevel();

/// Writes one line to stderr in one write(2), so that lines of several threads and processes do not
/// mix: `2026-01-31T12:00:00.000Z INFO component message key=value ...`. Values with spaces, quotes
/// or control characters are quoted and escaped: a line stays a line. Any thread.
void WriteLog(LogLevel level, std::string_view component, std::string_view message,
              std::initializer_list<LogField> fields = {});

inline void LogDebug(std::string_view component, std::string_view message,
                     std::initializer_list<LogField> fields = {}) {
  WriteLog(LogLevel::kDebug, component, message, fields);
}
inline void LogInfo(std::string_view component, std::string_view message,
                    std::initializer_list<LogField> fields = {}) {
  WriteLog(LogLevel::kInfo, component, message, fields);
}
inline void LogWarning(std::string_view component, std::string_view message,
                       std::initializer_list<LogField> fields = {}) {
  WriteLog(LogLevel::kWarning, component, message, fields);
}
inline void LogError(std::string_view component, std::string_view message,
                     std::initializer_list<LogField> fields = {}) {
  WriteLog(LogLevel::kError, component, message, fields);
}

/// The line that WriteLog would write, newline included, for a time in ms since the Unix epoch.
std::string FormatLogLine(std::int64_t unix_millis, LogLevel level, std::string_view component,
                          std::string_view message, std::initializer_list<LogField> fields);

}  // namespace pstrain
