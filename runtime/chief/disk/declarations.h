#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "proto/contract/control.pb.h"
#include "runtime/chief/chief_dependencies.h"

namespace pstrain {

/// Lets the catalog of a run grow while it trains: decides the order of declarations, gives their
/// variables ids and places that never change, makes them durable as the next generation of the
/// catalog (RunDirectory::WriteGeneration), and only then adds them to the run's description, from
/// which ps, workers and checkpoints take them. So whatever anybody has heard of is known to each
/// later chief. No I/O but through Disk. The chief's lock guards it: one thread at a time.
class Declarations {
 public:
  using Done = std::function<void(const Status&)>;

  /// `run`, which is chief.run, grows; `grown` is called each time. Both outlive this.
  Declarations(const ChiefDependencies& chief, RunDescription& run, std::function<void()> grown)
      : chief_(chief), run_(run), grown_(std::move(grown)) {}

  /// Declares what is not declared yet, all of it or, with an error, nothing. Ids and generations
  /// are not looked at, of partitions only how many there are: none leaves it to the job. `done`
  /// gets OK once it is durable, immediately when nothing is new. ALREADY_EXISTS names a variable
  /// and how it differs from what its name was declared as; INVALID_ARGUMENT: one that does not
  /// hold together; else as RunDirectory::WriteGeneration: declared again, it is tried again.
  void Declare(std::vector<VariableSpec> variables, Done done);

  /// One was refused because the run is another chief's.
  bool superseded() const { return superseded_; }

 private:
  struct Waiting {
    std::vector<VariableSpec> variables;
    Done done;
  };

  void Begin();
  void Written(const Status& status, const CatalogGeneration& generation, const Done& done);
  /// Without variables when nothing is new.
  Result<CatalogGeneration> NextGeneration(const std::vector<VariableSpec>& variables) const;
  Status Place(std::vector<VariableSpec>* variables) const;

  const ChiefDependencies chief_;
  RunDescription& run_;
  const std::function<void()> grown_;
  std::deque<Waiting> waiting_;
  /// One generation is on its way to the disk.
  bool writing_ = false;
  bool superseded_ = false;
};

}  // namespace pstrain
