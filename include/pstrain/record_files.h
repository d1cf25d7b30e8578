#pragma once

#include <pstrain/dtype.h>
#include <pstrain/shape.h>
#include <pstrain/status.h>
#include <pstrain/tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pstrain {

/// How Dataset::Csv and Dataset::TfRecord read their files. Values; any thread.

/// How files are packed. Mirrors compression_type of tf.data.
enum class Compression : std::uint8_t {
  /// gzip where a file begins with gzip's magic bytes.
  kAuto,
  kNone,
  kGzip,
};

/// A column of a CSV file that elements have. Mirrors an entry of select_columns and of
/// column_defaults of tf.data.experimental.make_csv_dataset.
struct CsvColumn {
  std::string name;
  /// float32, float64, int32, int64 or string.
  DType dtype = DType::kFloat32;
  /// What a missing field is: a scalar of that dtype. Without it a missing field is an error; of a
  /// string it is then the empty text.
  std::optional<Tensor> default_value = std::nullopt;
};

/// Mirrors the arguments of tf.data.experimental.make_csv_dataset.
struct CsvOptions {
  /// What elements have, in this order. Empty: all columns, as texts. Mirrors select_columns.
  std::vector<CsvColumn> select = {};
  /// The first line of each file names the columns.
  bool header = true;
  /// The names of the columns in the order of the files; needed without a header, and with one what
  /// it has to say. Mirrors column_names.
  std::vector<std::string> columns = {};
  /// Mirrors field_delim.
  char delimiter = ',';
  /// Spaces and tabs around a field, outside of its quotes, are no part of it.
  bool trim_whitespace = true;
  /// The text of a missing field, beside the empty one. Mirrors na_value.
  std::string missing = {};
  Compression compression = Compression::kAuto;
};

/// A feature of tf.Example messages that elements have. Mirrors tf.io.FixedLenFeature.
struct FixedLenFeature {
  std::string name;
  /// float32, int64 or string, as tf.Example has them.
  DType dtype = DType::kFloat32;
  Shape shape = {};
  /// What an example without the feature has: of that dtype and shape. Without it such an example
  /// is an error.
  std::optional<Tensor> default_value = std::nullopt;
};

/// Mirrors the arguments of tf.data.TFRecordDataset and the features of tf.io.parse_example.
struct TfRecordOptions {
  /// What tf.Examples have, in this order. Empty: elements are the records, texts named "record".
  std::vector<FixedLenFeature> features = {};
  Compression compression = Compression::kAuto;
};

/// The paths that match, sorted. Mirrors tf.io.gfile.glob. INVALID_ARGUMENT: none does, or the
/// pattern is empty; else the error of a folder that cannot be read. Any thread.
Result<std::vector<std::string>> Glob(const std::string& pattern);

}  // namespace pstrain
