#pragma once

#include <pstrain/cluster_resolver.h>
#include <pstrain/status.h>

#include <functional>

namespace pstrain {

/// Runs what a program does and turns its outcome into the exit code of `main`: the number that it
/// returns, or 1, with the error on standard error, when it fails or throws.
///
///   int main() { return Program(Coordinate); }
///
/// One thread, `main`'s.
int Program(const std::function<Result<int>()>& coordinate);

/// The same of a program that may have several processes, all of this one binary. `role` is given
/// what TF_CONFIG says: the chief coordinates, ps and workers are servers.
///
///   int main() {
///     return Program([](const ClusterResolver& cluster) -> Result<int> {
///       if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster);
///       return Server(cluster).Join();
///     });
///   }
///
/// Without TF_CONFIG there is no cluster, and the program is one process. With it, SIGTERM and
/// SIGINT stop the role instead of the process: it saves what it has and ends with 85. In the chief
/// the word of the run counts before that of `role` (docs/reference/exit-codes.md): 85 drained, 86
/// superseded, 87 no attempt can succeed; a `role` that returns 0 before its run has finished ends
/// with 1. 2: TF_CONFIG cannot be read. To be called before the process has other threads, which
/// would die by these signals. One thread, `main`'s.
int Program(const std::function<Result<int>(const ClusterResolver& cluster)>& role);

}  // namespace pstrain
