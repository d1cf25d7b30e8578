#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "proto/job/psjob.pb.h"

namespace pstrain {

/// Every optimizer that a manifest can name, with its default numbers: (field's name, message). By
/// reflection, so that an optimizer that is added is tested without a line here.
inline std::vector<std::pair<std::string, Optimizer>> EveryOptimizer() {
  std::vector<std::pair<std::string, Optimizer>> all;
  const auto* kinds = Optimizer::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < kinds->field_count(); ++i) {
    Optimizer optimizer;
    google::protobuf::Message* numbers =
        optimizer.GetReflection()->MutableMessage(&optimizer, kinds->field(i));
    const auto* type = numbers->GetDescriptor();
    for (int f = 0; f < type->field_count(); ++f) {
      const std::string& text =
          type->field(f)->options().GetExtension(manifest_field).default_json();
      numbers->GetReflection()->SetDouble(numbers, type->field(f), std::atof(text.c_str()));
    }
    all.emplace_back(kinds->field(i)->name(), std::move(optimizer));
  }
  return all;
}

}  // namespace pstrain
