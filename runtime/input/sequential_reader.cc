#include <utility>
#include <vector>

#include "runtime/input/batch_builder.h"
#include "runtime/input/batch_reader.h"
#include "runtime/input/input_files.h"

namespace pstrain {
namespace {

class FileOrderReader final : public SequentialReader {
 public:
  FileOrderReader(BatchBuilder builder, std::vector<InputFile> files)
      : builder_(std::move(builder)), files_(std::move(files)) {}

  Result<Batch> Next(std::uint32_t max_records) override {
    Batch batch = builder_.EmptyBatch();
    while (batch.records + batch.skipped < max_records) {
      if (!in_file_) {
        if (next_file_ == files_.size()) break;
        PSTRAIN_RETURN_IF_ERROR(builder_.Seek(files_[next_file_], {}));
        ++next_file_;
        in_file_ = true;
      }
      PSTRAIN_ASSIGN_OR_RETURN(in_file_, builder_.Next(batch));
    }
    return batch;
  }

  Status Rewind() override {
    in_file_ = false;
    next_file_ = 0;
    return OkStatus();
  }

 private:
  BatchBuilder builder_;
  std::vector<InputFile> files_;
  std::size_t next_file_ = 0;
  /// Whether the builder stands in the file before `next_file_`.
  bool in_file_ = false;
};

}  // namespace

Result<std::unique_ptr<SequentialReader>> SequentialReader::Create(
    const Input& input, std::shared_ptr<const FeatureSet> features, const Options& options) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<RecordSource> source, CreateRecordSource(input));
  PSTRAIN_ASSIGN_OR_RETURN(InputFiles opened, OpenInputFiles(input, *source, options.scratch));
  PSTRAIN_ASSIGN_OR_RETURN(BatchBuilder builder,
                           BatchBuilder::Create(input, std::move(features), opened.columns,
                                                options.on_bad, options.labels));
  return std::unique_ptr<SequentialReader>(
      std::make_unique<FileOrderReader>(std::move(builder), std::move(opened.files)));
}

}  // namespace pstrain
