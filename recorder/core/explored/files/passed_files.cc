#include "recorder/core/explored/files/passed_files.h"

#include "recorder/core/explored/files/own_files.h"
#include "recorder/core/explored/model_memory.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kMostUnderWay = 64;

IN_MODEL PassedFiles under_way[kMostUnderWay];

}  // namespace

PassedFiles* new_passed_files() {
  for (PassedFiles& files : under_way)
    if (files.queue == nullptr) {
      files = {};
      return &files;
    }
  return nullptr;
}

PassedFiles* passed_files_at(const ByteQueue& queue, std::uint64_t at) {
  for (PassedFiles& files : under_way)
    if (files.queue == &queue && files.at == at) return &files;
  return nullptr;
}

std::uint64_t bytes_to_next_passed(const ByteQueue& queue, std::uint64_t at) {
  std::uint64_t least = ~std::uint64_t{0};
  for (const PassedFiles& files : under_way)
    if (files.queue == &queue && files.at > at && files.at - at < least) least = files.at - at;
  return least;
}

void drop_passed_files(PassedFiles& files) {
  files.queue = nullptr;
  for (std::uint32_t i = 0; i < files.count; i++) drop_reference(files.files[i]);
  files.count = 0;
}

void drop_passed_files(const ByteQueue& queue) {
  for (PassedFiles& files : under_way)
    if (files.queue == &queue) drop_passed_files(files);
}

}  // namespace reweave::core
