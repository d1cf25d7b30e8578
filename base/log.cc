#include "base/log.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "base/clock.h"

namespace pstrain {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"debug", "info", "warning", "error"};
constexpr std::array<std::string_view, 4> kTags = {"DEBUG", "INFO", "WARNING", "ERROR"};

std::atomic<LogLevel>& Threshold() {
  static std::atomic<LogLevel> level{LogLevel::kInfo};
  return level;
}

/// As logfmt's readers split a line: at blanks into fields, at the first = into key and value.
bool NeedsQuotes(std::string_view value) {
  if (value.empty()) return true;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7f || c == '"' || c == '\\' || c == '=') return true;
  }
  return false;
}

/// A text may come from a peer, a file name or a record. Control characters would let it begin a
/// line of its own, or speak to the terminal that shows it. Bytes of UTF-8 stay as they are.
void AppendEscaped(std::string_view value, std::string& line) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (byte < ' ' || byte == 0x7f) {
      line += "\\x";
      line += kHex[byte >> 4U];
      line += kHex[byte & 0xfU];
    } else {
      line += c;
    }
  }
}

void AppendValue(std::string_view value, std::string& line) {
  if (!NeedsQuotes(value)) {
    line += value;
    return;
  }
  std::string escaped;
  for (const char c : value) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  line += '"';
  AppendEscaped(escaped, line);
  line += '"';
}

/// By printf, because g++ 12 has no std::format.
std::string FormatTime(std::int64_t unix_millis) {
  using std::chrono::days;
  using std::chrono::milliseconds;
  const std::chrono::sys_time<milliseconds> time{milliseconds(unix_millis)};
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 48> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return buffer.data();
}

/// The loop is for what a full pipe or a signal leaves over. As a rule it is one call, so that
/// lines of several processes on one pipe do not mix.
void WriteToStderr(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // Nobody is left to tell.
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

LogField::LogField(std::string_view key, double value) : key_(key) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  value_.assign(buffer.data(), end);
}

std::string_view LogLevelName(LogLevel level) { return kNames[static_cast<std::size_t>(level)]; }

std::optional<LogLevel> ParseLogLevel(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

void SetLogLevel(LogLevel level) { Threshold().store(level, std::memory_order_relaxed); }

LogLevel GetLogLevel() { return Threshold().load(std::memory_order_relaxed); }

std::string FormatLogLine(std::int64_t unix_millis, LogLevel level, std::string_view component,
                          std::string_view message, std::initializer_list<LogField> fields) {
  std::string line = FormatTime(unix_millis);
  line += ' ';
  line += kTags[static_cast<std::size_t>(level)];
  line += ' ';
  AppendEscaped(component, line);
  line += ' ';
  AppendEscaped(message, line);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key();
    line += '=';
    AppendValue(field.value(), line);
  }
  line += '\n';
  return line;
}

void WriteLog(LogLevel level, std::string_view component, std::string_view message,
              std::initializer_list<LogField> fields) {
  if (level < GetLogLevel()) return;
  WriteToStderr(FormatLogLine(RealClock{}.UnixMillis(), level, component, message, fields));
}

}  // namespace pstrain
