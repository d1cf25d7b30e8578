#pragma once

#include <cstdint>
#include <optional>

#include "agent/agent_state.h"
#include "agent/program_exit.h"
#include "base/text/json.h"
#include "proto/contract/stats_page.h"
#include "proto/contract/task_env.h"

namespace pstrain {

/// What the agent says of its program's numbers. The page may change while it is read: each value
/// is read at one moment, all of them are not. Otherwise pure; any thread.

/// Every value of the page by its key; empty when the page cannot be read. A double that is not
/// finite is null.
Json ValuesJson(const StatsPage& page);

/// What /progress answers:
/// {"job","run_id","role","index","attempt","child_pid","state","values":{key: number}}.
/// In a cluster run_id is the uid of the job. An unreadable page adds "error" and leaves values
/// empty.
Json ProgressJson(const TaskEnv& task, const AgentState& state, const StatsPage& page);

/// The same after the end, with "exit" (program_exit.h), for the final stats file.
Json FinalStatsJson(const TaskEnv& task, const AgentState& state, const StatsPage& page,
                    const ProgramExit& end);

/// The slot "steps", or nullopt.
std::optional<std::uint64_t> LastStep(const StatsPage& page);

/// False when the page has a slot "ready" that is 0.
bool RuntimeSaysReady(const StatsPage& page);

}  // namespace pstrain
