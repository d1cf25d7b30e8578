#pragma once

#include <fstream>
#include <string>

#include "proto/job/psjob.pb.h"

namespace pstrain {

inline void WriteTestFile(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// Columns age (standardised), job (vocabulary: clerk, cook), y (label: no = 0, yes = 1).
inline Training SmallTraining(const std::string& file) {
  Training training;
  training.set_batch_size(4);
  training.set_block_size(10);
  training.set_seed(3);
  training.set_epochs(1);
  CsvInput* csv = training.mutable_input()->mutable_csv();
  csv->add_files(file);
  for (const char* column : {"age", "job", "y"}) csv->add_columns(column);
  csv->set_delimiter(",");
  csv->set_trim_whitespace(true);
  csv->set_missing("?");
  csv->set_label_column("y");
  (*csv->mutable_label_map())["no"] = 0;
  (*csv->mutable_label_map())["yes"] = 1;
  Feature* age = training.add_features();
  age->set_name("age");
  age->set_wide(true);
  age->mutable_numeric()->set_default_value(-1);
  Feature* job = training.add_features();
  job->set_name("job");
  job->set_wide(true);
  job->mutable_vocabulary()->add_values("clerk");
  job->mutable_vocabulary()->add_values("cook");
  job->mutable_vocabulary()->set_oov_buckets(1);
  return training;
}

}  // namespace pstrain
