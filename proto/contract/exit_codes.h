#pragma once

namespace pstrain {

/// The exit codes that the programs of this repository give and read; docs/reference/exit-codes.md
/// says who gives which, and what the operator and `pstrain run` do with it. Constants and pure
/// functions: any thread.

/// The work is done.
inline constexpr int kExitSuccess = 0;
/// It failed; another attempt may succeed.
inline constexpr int kExitFailure = 1;
/// Wrong usage or configuration: another attempt would fail the same way.
inline constexpr int kExitUsage = 2;
/// `pstrain run` alone: the job ended well, but a kill of --chaos did not fire.
inline constexpr int kExitKillNotFired = 3;
/// Told to stop, drained, not finished: nobody's fault, if somebody did tell it.
inline constexpr int kExitDrained = 85;
/// Disrupted: a successor has taken the place of this replica, or the device was lost. Nobody's
/// fault either.
inline constexpr int kExitDisrupted = 86;
/// Permanent: no attempt can succeed. The job fails immediately, whatever its backoffLimit.
inline constexpr int kExitPermanent = 87;
/// As a shell's: the program cannot be run; there is no such program.
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

/// As a shell's, for a program that a signal ended.
constexpr int ExitCodeOfSignal(int signal) { return 128 + signal; }
/// The reverse; 0 for a code that no signal gives: 255 is exit(-1). Linux has 64 signals.
constexpr int SignalOfExitCode(int code) { return code > 128 && code <= 192 ? code - 128 : 0; }

/// Whether an attempt that ended so may count as a disruption, which no limit of failures counts:
/// 86 always does, 85 where somebody told the replica to stop (operator/plan/restart.cc).
constexpr bool IsDisruptionExit(int code) { return code == kExitDrained || code == kExitDisrupted; }

/// Whether restartPolicy ExitCode forbids another attempt after a crash: the program gave the code
/// itself, and it is none whose meaning is fixed. As Kubeflow's TFJob has it.
constexpr bool IsPermanentExit(int code) {
  return code >= 1 && code <= 127 && !IsDisruptionExit(code);
}

}  // namespace pstrain
