#include "recorder/core/syscalls/files/fd_table.h"

#include <fcntl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/files/fd_sharing.h"
#include "recorder/core/syscalls/files/kept_files.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

FdTable& table() { return table_of(self()); }

FdEntry* entry_of(long fd) { return fd >= 0 && fd < static_cast<long>(kMaxFds) ? &table().entries[fd] : nullptr; }

void set_stream(long fd, std::uint32_t stream) {
  if (FdEntry* entry = entry_of(fd)) {
    entry->std_stream = static_cast<std::uint8_t>(stream & 3);
    return;
  }
  for (FarStream& far : table().far_streams)
    if (far.fd == fd) far.stream = 0;
  if (stream == 0) return;
  for (FarStream& far : table().far_streams)
    if (far.stream == 0) {
      far = {fd, stream};
      return;
    }
}

bool is_of_proc(long fd, const struct stat& status) {
  constexpr long kProcMagic = 0x9fa0;      // statfs(2)
  if (status.st_dev > 0xff) return false;  // proc file systems have no device, so their major number is 0
  struct statfs system = {};
  return !is_error(lent_call(SYS_fstatfs, fd, &system)) && system.f_type == kProcMagic;
}

// Descriptors `first` to `last` no longer refer to what was opened.
void forget_opened(long first, long last) {
  OpenedFile& opened = state().last_opened;
  if (opened.table == self().fd_table && opened.fd >= first && opened.fd <= last) opened.known = 0;
}

FdKind kind_of(long fd, const struct stat& status) {
  const auto type = status.st_mode & S_IFMT;
  if (type == S_IFREG && status.st_size == 0 && is_of_proc(fd, status)) return FdKind::kOfProc;
  return type == S_IFREG || type == S_IFDIR || type == S_IFBLK ? FdKind::kRegular : FdKind::kMayBlock;
}

void learn(FdEntry& entry, long fd, const struct stat& status) {
  entry.kind = kind_of(fd, status);
  if (static_cast<std::uint64_t>(status.st_size) < kLeastKeptFile && entry.kept == 0) entry.kept = kNotKept;
}

}  // namespace

void note_status(long fd, const struct stat& status) {
  FdEntry* entry = entry_of(fd);
  const bool asks = (status.st_mode & S_IFMT) == S_IFREG &&
                    status.st_size == 0;  // it may be in /proc, which takes another call to find out
  if (entry != nullptr && entry->kind == FdKind::kUnknown && !asks) learn(*entry, fd, status);
  if (opened_file(fd) == nullptr) return;
  state().last_opened.told = status;
  state().last_opened.told_step = state().step;
}

const struct stat* told_status(long fd) {
  const OpenedFile* opened = opened_file(fd);
  return opened != nullptr && opened->told_step != 0 && opened->told_step + 1 == state().step ? &opened->told : nullptr;
}

bool fd_may_block(long fd) {
  FdEntry* entry = entry_of(fd);
  if (entry == nullptr) return true;
  struct stat status;
  if (entry->kind == FdKind::kUnknown && !is_error(lent_call(SYS_fstat, fd, &status))) learn(*entry, fd, status);
  return entry->kind == FdKind::kMayBlock;
}

long path_of_fd(long fd, char* to, std::size_t room) {
  const bool is_first = self().tid == process().pid;  // for this thread, the shorter and faster path means the same
  Text link;
  link << (is_first ? "self/fd/" : "thread-self/fd/") << static_cast<int>(fd);
  const long n = sys(SYS_readlinkat, kProcFd, link.c_str(), to, room - 1);
  to[is_error(n) ? 0 : n] = 0;
  return n;
}

bool leads_to(const char* path, const struct stat& status) {
  struct stat found = {};
  return !is_error(sys(SYS_stat, path, &found)) && found.st_dev == status.st_dev && found.st_ino == status.st_ino;
}

bool is_proc_file(long fd) {
  const FdEntry* entry = entry_of(fd);
  if (entry != nullptr && entry->kind == FdKind::kUnknown) fd_may_block(fd);
  return entry != nullptr && entry->kind == FdKind::kOfProc;
}

bool is_served(long fd) {
  constexpr long kFuseMagic = 0x65735546;  // defined in linux/magic.h since 5.18
  if (state().serves_files == 0) return false;
  struct statfs system = {};
  const long error = lent_call(SYS_fstatfs, fd, &system);
  return error == -ENOSYS || (error == 0 && system.f_type == kFuseMagic);
}

namespace {

bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// `fd` may have been opened through /proc/self/fd, which lists the descriptors of the process's first thread. If `fd`
// is the same file as one of that thread's standard streams, marks it as that stream.
void note_stream_of_first(long fd, const struct stat& status) {
  const Thread* first = thread_by_tid(process().pid);
  if (first == nullptr || first->fd_table == self().fd_table) return;
  struct stat stream;
  for (long of : {1, 2}) {
    const std::uint32_t known = table_of(*first).entries[of].std_stream;
    const char* name = of == 1 ? "self/fd/1" : "self/fd/2";
    const bool same =
        known != 0 && !is_error(sys(SYS_newfstatat, kProcFd, name, &stream, 0)) && is_same_file(stream, status);
    if (same && fd_stream(fd) == 0) set_stream(fd, known);
  }
}

// True if the calling thread's `fd` and the owner's `theirs` refer to one open file (kcmp(2)).
bool is_same_file(long fd, const Thread& owner, long theirs) {
  constexpr long kFile = 0;  // KCMP_FILE
  return sys(SYS_kcmp, kernel_id(self()), kernel_id(owner), kFile, fd, theirs) == 0;
}

// The stream that `fd` shares with descriptor 1 or 2 of the owner's table.
std::uint32_t stream_shared_with(const Thread& owner, long fd) {
  for (long of : {1, 2}) {
    const std::uint32_t stream = table_of(owner).entries[of].std_stream;
    const bool itself = fd == of && owner.fd_table == self().fd_table;
    if (stream != 0 && !itself && is_same_file(fd, owner, of)) return stream;
  }
  return 0;
}

}  // namespace

void note_stream(long fd) {
  struct stat status, stream;
  if (is_error(sys(SYS_fstat, fd, &status))) return;
  for (long of : {1, 2}) {
    const bool same = fd_stream(of) != 0 && !is_error(sys(SYS_fstat, of, &stream)) && is_same_file(stream, status);
    if (same && fd_stream(fd) == 0) set_stream(fd, fd_stream(of));
  }
  note_stream_of_first(fd, status);
}

void note_received(long fd) {
  FdTableSet asked;
  state().descriptors_passed = 1;
  forget_fd(fd);
  for (const Thread& owner : live_threads(state())) {
    const std::uint32_t stream = asked.add(owner.fd_table) ? stream_shared_with(owner, fd) : 0;
    if (stream != 0) return set_stream(fd, stream);
  }
  for (long of = 3; of < static_cast<long>(kMaxFds); of++) {
    const FdEntry& other = *entry_of(of);
    if (other.std_stream == 0 || of == fd || !is_same_file(fd, self(), of)) continue;
    return set_stream(fd, other.std_stream);
  }
}

std::uint32_t fd_stream(long fd) {
  if (const FdEntry* entry = entry_of(fd)) return entry->std_stream;
  for (const FarStream& far : table().far_streams)
    if (far.fd == fd && far.stream != 0) return far.stream;
  return 0;
}

void set_times_out(long fd, bool times_out) {
  if (FdEntry* entry = entry_of(fd)) entry->times_out = times_out ? 1 : 0;
}

bool times_out(long fd) {
  const FdEntry* entry = entry_of(fd);
  return entry != nullptr && entry->times_out != 0;
}

void note_socket(long fd, long family) {
  constexpr long kInternet = 2, kInternet6 = 10;  // AF_INET, AF_INET6
  if (FdEntry* entry = entry_of(fd)) entry->internet = family == kInternet || family == kInternet6 ? 1 : 0;
}

// An accepted socket of the internet families starts as a copy of the listening one; others start with defaults.
void note_accepted(long fd, long listener) {
  const FdEntry* from = entry_of(listener);
  FdEntry* entry = entry_of(fd);
  if (from == nullptr || entry == nullptr || from->internet == 0) return;
  entry->internet = 1;
  entry->times_out = from->times_out;
}

void note_shown(long fd) {
  forget_fd(fd);
  FdEntry* entry = entry_of(fd);
  if (entry == nullptr) return;
  entry->kind = FdKind::kShown;
  entry->kept = kNotKept;
}

bool is_shown(long fd) {
  const FdEntry* entry = entry_of(fd);
  return entry != nullptr && entry->kind == FdKind::kShown;
}

void note_opened(long fd, const char* path, long flags) {
  OpenedFile& opened = state().last_opened;
  if (string_length(path) >= sizeof opened.path) return;
  opened.table = self().fd_table;
  opened.known = 1;
  opened.fd = fd;
  opened.flags = flags;
  opened.told_step = 0;
  copy_string(opened.path, sizeof opened.path, path);
}

const OpenedFile* opened_file(long fd) {
  const OpenedFile& opened = state().last_opened;
  return opened.known != 0 && opened.fd == fd && opened.table == self().fd_table ? &opened : nullptr;
}

void forget_fd(long fd) {
  forget_opened(fd, fd);
  if (FdEntry* entry = entry_of(fd))
    *entry = {};
  else
    set_stream(fd, 0);
}

void forget_fds(long first, long last) {
  forget_opened(first, last);
  for (long fd = first; fd <= last && fd < static_cast<long>(kMaxFds); fd++) *entry_of(fd) = {};
  for (FarStream& far : table().far_streams)
    if (far.fd >= first && far.fd <= last) far.stream = 0;
}

void copy_fd(long from, long to) {
  const FdEntry* source = entry_of(from);
  FdEntry* target = entry_of(to);
  if (from == to) return;
  forget_opened(to, to);
  if (source != nullptr && target != nullptr) {
    *target = *source;
    return;
  }
  forget_fd(to);
  set_stream(to, fd_stream(from));
}

std::uint16_t* kept_entry(long fd) {
  FdEntry* entry = entry_of(fd);
  return entry == nullptr ? nullptr : &entry->kept;
}

void mark_standard_streams() {
  // The process that passed these descriptors may move their offsets.
  for (FdEntry& entry : table().entries) entry.kept = kNotKept;
  table().entries[1].std_stream = wire::kWritesStdout;
  table().entries[2].std_stream = wire::kWritesStderr;
  state().fd_tables_used = 1;
  use_fd_table(state(), self(), 0);
}

}  // namespace reweave::core
