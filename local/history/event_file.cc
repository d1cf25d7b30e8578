#include "local/history/event_file.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/os/files.h"
#include "local/history/event.pb.h"

namespace pstrain::local {
namespace {

double WallSeconds() { return std::chrono::duration<double>(WallNow().time_since_epoch()).count(); }

template <typename Integer>
void AppendLittleEndian(Integer value, std::string& bytes) {
  constexpr unsigned kByte = 8;
  for (std::size_t i = 0; i < sizeof(value); ++i) {
    bytes += static_cast<char>(static_cast<unsigned char>(value >> (kByte * i)));
  }
}

void AddValue(std::string_view tag, double value, tensorboard::Event& event) {
  tensorboard::SummaryValue* const added = event.mutable_summary()->add_value();
  added->set_tag(std::string(tag));
  added->set_simple_value(static_cast<float>(value));
}

}  // namespace

std::string TfRecordOf(std::string_view data) {
  std::string record;
  AppendLittleEndian(static_cast<std::uint64_t>(data.size()), record);
  AppendLittleEndian(MaskCrc32c(Crc32c(record)), record);
  record += data;
  AppendLittleEndian(MaskCrc32c(Crc32c(data)), record);
  return record;
}

Result<std::shared_ptr<EventFile>> EventFile::Create(const std::string& directory,
                                                     const std::string& run_id) {
  auto file = std::make_shared<EventFile>();
  const std::string folder = JoinPath(directory, run_id);
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(folder));
  file->path_ = JoinPath(folder, "events.out.tfevents." +
                                     std::to_string(static_cast<std::int64_t>(WallSeconds())) +
                                     ".pstrain." + std::to_string(getpid()));
  file->file_.reset(std::fopen(file->path_.c_str(), "wxe"));
  if (file->file_ == nullptr) return ErrnoError(errno, file->path_);
  tensorboard::Event first;
  first.set_wall_time(WallSeconds());
  first.set_file_version("brain.Event:2");
  file->Write(first.SerializeAsString());
  return file;
}

void EventFile::Write(std::string_view event) {
  if (error_ != 0) return;
  const std::string record = TfRecordOf(event);
  if (std::fwrite(record.data(), 1, record.size(), file_.get()) != record.size() ||
      std::fflush(file_.get()) != 0) {
    error_ = errno;
  }
}

void EventFile::Add(const HistoryPoint& point) {
  if (point.kind == PointKind::kEvent) return;
  tensorboard::Event event;
  event.set_wall_time(WallSeconds());
  event.set_step(point.steps);
  if (point.kind == PointKind::kProgress) {
    if (point.loss) AddValue("loss", *point.loss, event);
    AddValue("epoch", point.epoch, event);
  }
  for (const auto& [name, value] : point.metrics) AddValue(name, value, event);
  Write(event.SerializeAsString());
}

Status EventFile::Problem() const { return error_ == 0 ? OkStatus() : ErrnoError(error_, path_); }

}  // namespace pstrain::local
