#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/process/program_replicas.h"

namespace pstrain {

/// Runs of histories_program.cc, and what they have to come to.
class HistoriesTest : public ProgramReplicas {
 protected:
  static constexpr std::int64_t kCalls = 200;

  /// A line of what a `main` writes down.
  struct Line {
    std::string what;
    std::int64_t number = 0;
    std::int64_t value = 0;
  };

  /// `every_seconds`: ProgramReplicas::Job; `program`: the same.
  void PrepareHistories(int every_seconds = 0, const std::string& program = "");
  /// `main` does not save while the disk is full. After PrepareHistories.
  void WithoutFullDisks();

  std::size_t Histories() const;
  /// The lines of one `main`, without its beginning.
  std::vector<Line> LinesOf(std::size_t history) const;
  /// At which mark it has begun; -1: there is no such history yet.
  std::int64_t BeginningOf(std::size_t history) const;
  bool HasSaid(std::size_t history, const std::string& what, std::int64_t number) const;
  /// Those of the history that has ended the run, and before it of those that it comes from, up to
  /// where it has left them.
  std::vector<Line> Surviving() const;

  /// The chief has ended well; the final checkpoint has every call of the surviving history once on
  /// every shard, and nothing else; and what `main` has seen fits that.
  void ExpectSurvivingHistory() const;

 private:
  std::vector<Line> LinesUpTo(std::int64_t history, std::size_t lines) const;
  std::string HistoryFile(std::size_t history) const;
  void ExpectSeen(const std::vector<Line>& lines) const;
  void ExpectFinalState(const std::vector<std::int64_t>& amounts, std::int64_t base) const;

  std::size_t full_disks_ = 2;
};

}  // namespace pstrain
