#include "recorder/core/explored/files/status.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/explored/files/channels.h"
#include "recorder/core/explored/files/descriptor_tables.h"
#include "recorder/core/explored/recorded/files.h"
#include "recorder/core/syscalls/explored_handlers.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// The type of the file to which the descriptor refers; 0: unknown. A standard stream is a pipe, because the output of a
// run is captured.
unsigned type_of(long fd) {
  const Descriptor* at = descriptor_at(fd);
  if (at == nullptr) return 0;
  if (at->kind == FileOf::kOutside) {
    const std::uint32_t file = file_of(fd);
    if (file != kNothing && recorded_file(file).source != Source::kRecorded) return S_IFCHR;
    return fd <= 2 ? S_IFIFO : 0;
  }
  if (at->kind == FileOf::kPoller) return 0;
  constexpr unsigned kTypes[] = {S_IFIFO, 0, S_IFSOCK, 0};  // by ChannelKind
  return kTypes[static_cast<int>(at->channel->kind)];
}

long write_status(Call& call, int slot, unsigned type) {
  struct stat status = {};
  status.st_mode = type | 0600;
  status.st_nlink = 1;
  status.st_ino = static_cast<ino_t>(call.logged[0]) + 1;
  status.st_blksize = 4096;
  memcpy(reinterpret_cast<void*>(call.logged[slot]), &status, sizeof status);
  return log_value(call, 0, static_cast<std::uint64_t>(call.logged[slot]), sizeof status);
}

}  // namespace

bool tells_own_status(const Call& call) {
  if ((call.row->flags & kTellsStatus) == 0) return false;
  if (call.row->at.path < 0) return true;  // fstat
  const auto* path = reinterpret_cast<const char*>(call.logged[call.row->at.path]);
  return (call.logged[call.row->at.flags] & AT_EMPTY_PATH) != 0 && path != nullptr && *path == 0;
}

bool model_status(Call& call, long& result) {
  const bool is_request = call.row->explored == explore_ioctl;
  if (!is_request && !tells_own_status(call)) return false;
  const unsigned type = type_of(call.logged[0]);
  if (type == 0) return false;
  result = is_request ? complete(call, -ENOTTY) : write_status(call, call.row->outs[0].arg, type);
  return true;
}

}  // namespace reweave::core
