#pragma once

#include <memory>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/shard/optimizer.h"

/// Every optimizer, one line each: its field in the message Optimizer (proto/job/psjob.proto),
/// which is also its name, and the type of that field. What it does is in optimizers/FIELD.cc,
/// which defines CreateTYPE. Programs name theirs by include/pstrain/optimizers.h, which
/// library/api/variable.cc turns into that message; nothing else in the tree knows which optimizers
/// there are. A macro, because the line has to make a declaration and a case. The functions are
/// pure: any thread; so are the rules that they make (optimizer.h).
#define PSTRAIN_OPTIMIZERS(LINE) \
  LINE(adadelta, Adadelta)       \
  LINE(adagrad, Adagrad)         \
  LINE(adam, Adam)               \
  LINE(adam_w, AdamW)            \
  LINE(adamax, Adamax)           \
  LINE(ftrl, Ftrl)               \
  LINE(lion, Lion)               \
  LINE(nadam, Nadam)             \
  LINE(rmsprop, Rmsprop)         \
  LINE(sgd, Sgd)

namespace pstrain {

#define PSTRAIN_DECLARE_OPTIMIZER(field, Message) \
  Result<std::shared_ptr<const OptimizerRule>> Create##Message(const Message& numbers);
PSTRAIN_OPTIMIZERS(PSTRAIN_DECLARE_OPTIMIZER)
#undef PSTRAIN_DECLARE_OPTIMIZER

}  // namespace pstrain
