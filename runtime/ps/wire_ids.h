#pragma once

#include "proto/coordinator.pb.h"
#include "runtime/ps/ids.h"

namespace pstrain {

/// Terms and tokens as the control plane's messages carry them.
inline Term FromWire(const WireTerm& term) { return {term.epoch(), term.counter()}; }
inline Token FromWire(const WireToken& token) { return {token.epoch(), token.batch()}; }

inline void ToWire(const Term& term, WireTerm* wire) {
  wire->set_epoch(term.epoch);
  wire->set_counter(term.counter);
}
inline void ToWire(const Token& token, WireToken* wire) {
  wire->set_epoch(token.epoch);
  wire->set_batch(token.batch);
}

}  // namespace pstrain
