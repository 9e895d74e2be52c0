#include "recorder/core/syscalls/files/kept_files.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr long kLeastRead = 4096;  // the smallest read that is worth a reference

bool only_read(long fd) {
  const long flags = sys(SYS_fcntl, fd, F_GETFL, 0);
  return !is_error(flags) && (flags & O_ACCMODE) == O_RDONLY;
}

// Asks the supervisor for a lease on the file behind `fd`; kNotKept if it is not granted.
std::uint16_t ask(long fd, const struct stat& status) {
  KeepRequest& request = arena().keep;
  request.pid = self().real_tid;
  request.fd = static_cast<std::int32_t>(fd);
  request.device = status.st_dev;
  request.inode = status.st_ino;
  request.answered.store(0);
  request.asked.store(1);
  flush_out();
  while (request.answered.load() == 0) sys(SYS_futex, &request.answered, FUTEX_WAIT, 0, 0);
  return request.file;
}

// Number of the kept file behind `fd` plus one, or kNotKept.
std::uint16_t kept_file(long fd) {
  std::uint16_t* known = kept_entry(fd);
  if (known == nullptr) return kNotKept;
  if (*known == 0) {
    struct stat status;
    const bool worth_it = lent_call(SYS_fstat, fd, &status) == 0 && (status.st_mode & S_IFMT) == S_IFREG &&
                          static_cast<std::uint64_t>(status.st_size) >= kLeastKeptFile && only_read(fd) &&
                          !is_served(fd);
    *known = worth_it ? ask(fd, status) : kNotKept;
  }
  return *known;
}

// True if the file offset cannot have moved since the last read, because that was the previous call and there is no
// other thread.
bool continues(const ReadPosition& last, long fd) {
  const RuntimeState& s = state();
  return last.fd == fd && last.step != 0 && last.step + 1 == s.step && s.live_threads == 1;
}

std::uint64_t offset_of(const Call& call, long result) {
  if (call.row->at.offset >= 0) return static_cast<std::uint64_t>(call.args[call.row->at.offset]);
  const long fd = call.args[0];
  ReadPosition& last = state().last_read;
  const auto bytes = static_cast<std::uint64_t>(result);
  const std::uint64_t start =
      continues(last, fd) ? last.offset : static_cast<std::uint64_t>(sys(SYS_lseek, fd, 0, SEEK_CUR)) - bytes;
  last = {state().step, start + bytes, fd};
  return start;
}

}  // namespace

bool reads_kept_file(const Call& call, long result) {
  if (config().keep_files == 0 || result < kLeastRead) return false;
  // Only the file offset tells where a read began, and another process with the descriptor may have moved it again.
  const bool is_offset_known = call.row->at.offset >= 0 || state().descriptors_passed == 0;
  if ((call.row->flags & kTellsPlace) == 0 || !is_offset_known) return false;
  return kept_file(call.args[0]) != kNotKept;
}

void log_file_read(Call& call, long result, const Output& output) {
  const std::uint32_t file = kept_file(call.args[0]) - 1u;
  const wire::KeptRange range = {file, offset_of(call, result)};
  arena().logging_kept.store(1);
  const bool unchanged = arena().kept_changing[file].load() == 0;
  log_call(call, result, &output, 1, unchanged ? &range : nullptr);
  arena().logging_kept.store(0);
}

}  // namespace reweave::core
