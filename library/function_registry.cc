#include "library/function_registry.h"

#include <chrono>
#include <utility>

namespace pstrain::program {
namespace {

/// What names of the library's own functions begin with.
constexpr std::string_view kReserved = "pstrain.";

/// What roles have to have alike; nothing of the usual ones.
std::string TextOf(const FunctionOptions& options) {
  std::string text = options.atomic ? " atomic" : "";
  if (!options.writes) text += " without writes";
  if (options.deadline) text += " within " + std::to_string(options.deadline->count()) + " ms";
  return text;
}

Result<Values> AssignVariable(Step& step, const std::vector<Argument>& arguments) {
  if (arguments.size() != 2) return InvalidArgumentError("an assign takes a name and a tensor");
  PSTRAIN_ASSIGN_OR_RETURN(const std::string name,
                           function_internal::FromArgument<std::string>(arguments[0]));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor value,
                           function_internal::FromArgument<Tensor>(arguments[1]));
  step.Assign(VariableRef{name}, value);
  return Values();
}

}  // namespace

FunctionRegistry::FunctionRegistry() {
  entries_[kAssign] = {"string,tensor", AssignVariable, "libpstrain"};
}

FunctionRegistry& FunctionRegistry::Global() {
  static FunctionRegistry registry;
  return registry;
}

void FunctionRegistry::Add(const std::string& name, Entry entry) {
  const MutexLock lock(mutex_);
  if (name.empty() || name.starts_with(kReserved)) {
    problem_ = InvalidArgumentError("a function cannot be called \"" + name + "\", as at " +
                                    entry.where + "; give it another name");
    return;
  }
  if (entry.options.atomic && !entry.options.writes) {
    problem_ = InvalidArgumentError(
        "function " + name + ", as at " + entry.where +
        ", is registered with atomic = true and writes = false; what changes nothing is never "
        "half applied, so leave FunctionOptions.atomic out");
    return;
  }
  if (entry.options.deadline && *entry.options.deadline <= std::chrono::milliseconds(0)) {
    problem_ = InvalidArgumentError("function " + name + ", registered at " + entry.where +
                                    ", has a FunctionOptions.deadline of " +
                                    std::to_string(entry.options.deadline->count()) +
                                    " ms, and that has to be positive; leave it out for none");
    return;
  }
  const auto [known, added] = entries_.try_emplace(name, std::move(entry));
  if (added || !problem_.ok()) return;
  // Not moved when nothing was added. NOLINTNEXTLINE(bugprone-use-after-move)
  problem_ = AlreadyExistsError("function " + name + " is registered at " + known->second.where +
                                " and at " + entry.where + "; give one another name");
}

Result<FunctionRegistry::Entry> FunctionRegistry::Find(const std::string& name,
                                                       const std::string& signature) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    return NotFoundError("this program has no function " + name +
                         "; start coordinator and workers from one build");
  }
  if (found->second.signature == signature) return found->second;
  return InvalidArgumentError("function " + name + " takes (" + found->second.signature +
                              ") and is called with (" + signature +
                              "); start coordinator and workers from one build");
}

std::map<std::string, std::string> FunctionRegistry::Signatures() const {
  const MutexLock lock(mutex_);
  std::map<std::string, std::string> signatures;
  for (const auto& [name, entry] : entries_) {
    signatures[name] = entry.signature + TextOf(entry.options);
  }
  return signatures;
}

Status FunctionRegistry::problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

}  // namespace pstrain::program
