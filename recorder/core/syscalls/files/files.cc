// Calls on files and descriptors that need more than their row.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>

#include "recorder/core/base/fatal.h"
#include "recorder/core/image/image.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/files/executed_files.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/files/open_flags.h"
#include "recorder/core/syscalls/files/streams.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/proc/shown_calls.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/scratch.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/own_files.h"

namespace reweave::core {

namespace {

const char* string_at(long address) { return reinterpret_cast<const char*>(address); }

// True for calls of the dynamic loader, which may get other answers than the file system's.
bool from_loader(const Call& call) { return in_interpreter(call.context.registers.rip); }

// The file to open instead of `path`. The loader's preload list names the shim. Instead of ThreadSanitizer's runtime
// the loader gets the library that defines the same functions, whether or not the runtime is installed.
const char* substitute(const Call& call, const char* path) {
  if (path == nullptr) return path;
  const bool opens = (call.row->flags & kNewFd) != 0;
  const char* program = opens && (open_flags(call) & O_NOFOLLOW) != 0 ? nullptr : program_behind(path);
  if (program != nullptr) return program;
  if (!from_loader(call)) return path;
  if (string_equal(path, "/etc/ld.so.preload"))
    return needs_tsan_shim() ? config().tsan_preload_path : config().preload_path;
  const char* name = base_name(path);
  if (starts_with(name, "libtsan.so") || starts_with(name, "libclang_rt.tsan")) return config().tsan_path;
  return path;
}

// A link in /proc to a file of Reweave's own, because a process with another root has no path to it. Null if `path` is
// not one of these files.
const char* link_to_own(const char* path) {
  static char link[32];
  const OwnFiles files = own_files(config());
  for (const OwnFile& file : files.items) {
    if (!string_equal(path, file.path)) continue;
    Text text;
    text << "thread-self/fd/" << file.fd;
    copy_string(link, sizeof link, text.c_str());
    return link;
  }
  return nullptr;
}

// True for openat2 with RESOLVE_ flags, which restrict the links in a path: a substituted path might not satisfy them.
bool resolves_strictly(const Call& call) {
  return (call.row->flags & kFlagsInMemory) != 0 && call.args[3] >= 24 &&
         reinterpret_cast<const std::uint64_t*>(call.args[2])[2] != 0;
}

long open_path(Call& call, int slot) {
  if (!live() || resolves_strictly(call)) return recorded_call(call);
  const char* path = substitute(call, string_at(call.args[slot]));
  const char* link = path != nullptr && from_loader(call) ? link_to_own(path) : nullptr;
  if (link != nullptr && slot == 0 && (call.row->flags & kNewFd) == 0) return complete(call, 0);
  if (link != nullptr && slot == 1) call.args[0] = kProcFd;
  call.args[slot] = reinterpret_cast<long>(link != nullptr && slot == 1 ? link : path);
  return recorded_call(call);
}

// True if the open waits for the other end of a FIFO.
bool waits_for_other_end(const Call& call, int slot) {
  if (!live() || state().live_threads == 1) return false;
  const long flags = open_flags(call);
  if ((flags & (O_NONBLOCK | O_DIRECTORY | O_PATH)) != 0 || (flags & O_ACCMODE) == O_RDWR) return false;
  struct stat status = {};
  const long found = lent_call(SYS_newfstatat, slot == 0 ? AT_FDCWD : call.args[0], call.args[slot], &status, 0);
  return found == 0 && (status.st_mode & S_IFMT) == S_IFIFO;
}

long open_file(Call& call, int slot) {
  if (opens_executed(call, slot)) return text_busy(call);
  if (live() && (call.row->flags & kFlagsInMemory) == 0 && opens_shown(call, slot)) return open_shown(call, slot);
  const char* path = string_at(call.args[slot]);
  const bool may_be_stream = live() && (starts_with(path, "/dev/") || starts_with(path, "/proc/"));
  const long result = waits_for_other_end(call, slot) ? recorded_call(call, true) : open_path(call, slot);
  // While the thread had the baton, the name cannot have changed.
  if (live() && (call.flags & wire::kLeftBaton) == 0 && !is_error(result)) note_opened(result, path, open_flags(call));
  if (may_be_stream && !is_error(result)) note_stream(result);
  if (may_be_stream && string_equal(path, "/dev/fuse")) state().serves_files = 1;
  return result;
}

long give_link(Call& call, int slot, const char* target) {
  const std::size_t bytes = std::min(string_length(target), static_cast<std::size_t>(call.args[slot + 2]));
  memcpy(reinterpret_cast<void*>(call.args[slot + 1]), target, bytes);
  return static_cast<long>(bytes);
}

// readlink of /proc/self/exe returns the program, not the core. The kernel knows the program's present name. An
// explored run that asks more often than the recorded run uses the program's name at its start.
long read_link(Call& call, int slot) {
  const char* path = string_at(call.args[slot]);
  const char* program = path == nullptr ? nullptr : program_behind(path);
  if (program == nullptr) return recorded_call(call);
  if (!is_own_program(program)) return complete(call, give_link(call, slot, program));
  if (modelled() && !explored.knows(call)) {
    const long bytes = give_link(call, slot, program_path());
    return log_value(call, bytes, static_cast<std::uint64_t>(call.args[slot + 1]), static_cast<std::uint64_t>(bytes));
  }
  if (live()) call.args[slot] = reinterpret_cast<long>(program);
  return recorded_call(call);
}

}  // namespace

long handle_open(Call& call) { return open_file(call, 0); }
long handle_openat(Call& call) { return open_file(call, 1); }

long handle_access(Call& call) { return open_path(call, call.row->at.path); }

// stat of the program's own link in /proc refers to the program, not the core.
long handle_stat(Call& call) {
  constexpr long kNoFollow = 0x100;  // AT_SYMLINK_NOFOLLOW
  const int slot = call.row->at.path;
  const long flags = call.row->at.flags < 0 ? 0 : call.args[call.row->at.flags];
  const bool follows = live() && (flags & kNoFollow) == 0 && call.args[slot] != 0;
  if (const char* program = follows ? program_behind(string_at(call.args[slot])) : nullptr)
    call.args[slot] = reinterpret_cast<long>(program);
  const long result = recorded_call(call);
  constexpr long kEmptyPath = 0x1000;  // AT_EMPTY_PATH
  const bool of_descriptor = (flags & kEmptyPath) != 0 && call.args[slot] != 0 && *string_at(call.args[slot]) == 0;
  if (live() && result == 0 && call.row->outs[0].size == sizeof(struct stat) && of_descriptor)
    note_status(call.args[0], *reinterpret_cast<const struct stat*>(call.args[2]));
  return result;
}

namespace {

// A call on the file of a path argument; the program's own link in /proc refers to the program.
long call_on_path(Call& call, int slot) {
  const char* path = live() ? string_at(call.args[slot]) : nullptr;
  const char* program = path == nullptr ? nullptr : program_behind(path);
  if (program != nullptr) call.args[slot] = reinterpret_cast<long>(program);
  return recorded_call(call);
}

}  // namespace

long handle_first_path(Call& call) { return call_on_path(call, 0); }
long handle_second_path(Call& call) { return call_on_path(call, 1); }

// fchownat, utimensat: the flags are the last argument.
long handle_followed_path(Call& call) {
  constexpr long kNoFollow = 0x100;  // AT_SYMLINK_NOFOLLOW
  const long flags = call.args[call.row->argument_count - 1];
  return (flags & kNoFollow) != 0 ? recorded_call(call) : call_on_path(call, 1);
}

long handle_fstat(Call& call) {
  const long result = recorded_call(call);
  if (live() && result == 0) note_status(call.args[0], *reinterpret_cast<const struct stat*>(call.args[1]));
  return result;
}

long handle_close(Call& call) {
  const long fd = call.args[0];
  const long result = recorded_call(call);
  if (!is_our_fd(fd)) forget_fd(fd);
  return result;
}

long handle_dup(Call& call) {
  const int onto = call.row->at.to;
  if (is_our_fd(call.args[0]) || (onto >= 0 && is_our_fd(call.args[onto]))) return complete(call, -EBADF);
  const long result = recorded_call(call);
  if (!is_error(result)) copy_fd(call.logged[0], result);
  return result;
}

// The core's descriptors exist in the other process of the tree as well.
long handle_pidfd_getfd(Call& call) {
  if (is_our_fd(call.args[1])) return complete(call, -EBADF);
  const long result = recorded_call(call);
  if (live() && !is_error(result)) note_received(result);
  return result;
}

namespace {

bool fcntl_takes_argument(long command) {
  constexpr long kWithout[] = {
      F_GETFD, F_GETFL, F_GETOWN, 11 /* F_GETSIG */, 1025 /* F_GETLEASE */, 1032 /* F_GETPIPE_SZ */,
      1034 /* F_GET_SEALS */};
  for (long other : kWithout)
    if (command == other) return false;
  return true;
}

// Bytes that a command writes at its argument.
std::uint64_t fcntl_output(long command) {
  struct Command {
    long number;
    std::uint64_t bytes;
  };
  constexpr Command kCommands[] = {{F_GETLK, 32},
                                   {36 /* F_OFD_GETLK */, 32},
                                   {16 /* F_GETOWN_EX */, 8},
                                   {17 /* F_GETOWNER_UIDS */, 8},
                                   {1035 /* F_GET_RW_HINT */, 8},
                                   {1037 /* F_GET_FILE_RW_HINT */, 8}};
  for (const Command& known : kCommands)
    if (known.number == command) return known.bytes;
  return 0;
}

}  // namespace

long handle_fcntl(Call& call) {
  const long command = call.args[1];
  if (!fcntl_takes_argument(command)) use_arguments(call, 2);
  if (is_our_fd(call.args[0])) return complete(call, -EBADF);
  const bool waits = command == F_SETLKW || command == 38 /* F_OFD_SETLKW */;
  if (!live()) {
    const long result = answered_call(call);
    if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && !is_error(result)) copy_fd(call.logged[0], result);
    return result;
  }
  if (waits) return recorded_call(call, state().live_threads > 1);
  const long result = lent_call(SYS_fcntl, call.args[0], command, call.args[2]);
  log_value(call, result, static_cast<std::uint64_t>(call.args[2]), is_error(result) ? 0 : fcntl_output(command));
  if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && !is_error(result)) copy_fd(call.logged[0], result);
  return result;
}

long handle_readlink(Call& call) { return read_link(call, 0); }
long handle_readlinkat(Call& call) { return read_link(call, 1); }

namespace {

constexpr long kPipeFlags = 0xf;  // SPLICE_F_..., splice(2)

// The answer to a copy to standard output. The kernel reports some other errors first.
long refuse_copy(const Call& call, bool between_pipes) {
  const long* a = call.args;
  const CallPlaces& at = call.row->at;
  const bool is_sendfile = at.flags < 0, is_tee = at.in_offset < 0;
  const bool nothing = between_pipes && a[at.count] == 0;
  if (is_sendfile && a[at.in_offset] != 0) (void)*reinterpret_cast<volatile long*>(a[at.in_offset]);
  if (nothing && !is_tee) return 0;
  if (between_pipes && (a[at.flags] & ~kPipeFlags) != 0) return -EINVAL;
  if (nothing) return 0;
  if (live() && is_error(sys(SYS_fcntl, a[at.from], F_GETFD))) return -EBADF;
  return between_pipes || is_sendfile ? -EINVAL : -EXDEV;
}

}  // namespace

// copy_file_range, tee and the like to standard output. Replay could not repeat the copy, because the data never was in
// memory. So they fail as on files that do not support them, and programs use write instead.
long handle_copy_between(Call& call) {
  if (replaying()) scratch_of(call.me);  // the data written to the output goes there
  if (!live() || fd_stream(call.args[call.row->at.to]) == 0) return recorded_call(call);
  const bool between_pipes = (call.row->flags & kBetweenPipes) != 0;
  const long refused = refuse_copy(call, between_pipes);
  const bool may_be_copied = refused == -EINVAL && (!between_pipes || (call.args[5] & ~kPipeFlags) == 0);
  return may_be_copied && can_be_copied(call) ? copy_to_stream(call) : complete(call, refused);
}

// Into a pipe, vmsplice moves the pages themselves, not copies. So it must get the program's own memory, not scratch,
// even without the baton. Out of a pipe it is a read.
long handle_vmsplice(Call& call) {
  const bool refused = (call.args[3] & ~kPipeFlags) == 0 && fd_stream(call.args[0]) != 0;
  if (refused) return complete(call, -EBADF);  // as for a descriptor that is not a pipe: see above
  const long flags = sys(SYS_fcntl, call.args[0], F_GETFL, 0);
  if (!is_error(flags) && (flags & O_ACCMODE) == O_RDONLY) return recorded_call(call);
  const bool off = state().live_threads > 1;
  if (off) leave_baton();
  const long result = interruptible_syscall(call, call.number, call.args);
  if (off) return_from_kernel();
  log_call(call, result, nullptr, 0);
  return result;
}

// The field before the handle gives its room; the kernel also updates it if the room is too small
// (open_by_handle_at(2)).
long handle_name_to_handle_at(Call& call) {
  const std::uint32_t room = *reinterpret_cast<const std::uint32_t*>(call.args[2]);
  const long result = lent_call(call.number, call.args[0], call.args[1], call.args[2], call.args[3], call.args[4]);
  constexpr std::uint32_t kMost = 128;  // MAX_HANDLE_SZ
  constexpr long kUniqueMount = 1;      // AT_HANDLE_MNT_ID_UNIQUE: the mount ID has 64 bits
  const std::uint64_t number_bytes = (call.args[4] & kUniqueMount) != 0 ? 8 : 4;
  const Output outputs[] = {
      {static_cast<std::uint64_t>(call.args[2]), is_error(result) ? 4 : 8 + (room < kMost ? room : kMost)},
      {static_cast<std::uint64_t>(call.args[3]), number_bytes}};
  log_call(call, result, outputs, !is_error(result) || result == -EOVERFLOW ? 2 : 0);
  return result;
}

namespace {

// True if the time limit is valid, which the kernel checks first. An inaccessible one faults here.
bool has_valid_limit(const Call& call) {
  constexpr std::int64_t kMicro = 1'000'000, kNano = 1'000'000'000;
  const auto* time = reinterpret_cast<const std::int64_t*>(call.args[4]);
  if (time == nullptr) return true;
  const bool micro = (call.row->flags & kMicroseconds) != 0;
  const std::int64_t seconds = time[0] + (micro ? time[1] / kMicro : 0);
  const std::int64_t rest = micro ? time[1] % kMicro * (kNano / kMicro) : time[1];
  return seconds >= 0 && rest >= 0 && rest < kNano;
}

}  // namespace

long handle_select(Call& call) {
  if (!live()) return answered_call(call);
  // Other threads run meanwhile and must not see the results before this call returns.
  constexpr std::uint64_t kSetBytes = 1 << 13;  // 65,536 descriptors, more than any limit here
  struct Copies {
    std::byte sets[3][kSetBytes];
    std::byte time[16];
  };
  static_assert(sizeof(Copies) < kCoreStackBytes / 4);
  Copies copies;
  if (!has_valid_limit(call) || call.args[0] < 0) return complete(call, -EINVAL);
  if (call.args[0] > static_cast<long>(kSetBytes * 8)) call.args[0] = kSetBytes * 8;
  const std::uint64_t bytes = (static_cast<std::uint64_t>(call.args[0]) + 63) / 64 * 8;
  std::byte* const copy[4] = {copies.sets[0], copies.sets[1], copies.sets[2], copies.time};
  Output outputs[4];
  std::uint32_t n = 0;
  for (int slot = 1; slot <= 4; slot++) {
    if (call.args[slot] == 0) continue;
    const auto address = static_cast<std::uint64_t>(call.args[slot]);
    // The kernel reads no more of a set than its descriptor table has room for; the core's descriptors enlarge that
    // table. The rest of the set may be unmapped.
    constexpr std::uint64_t kReadBytes = 128;  // for 1024 descriptors
    const std::uint64_t there = slot == 4 ? 16 : bytes_there(address, bytes);
    if (slot != 4 && there < bytes && there < kReadBytes) return complete(call, -EFAULT);
    memset(copy[slot - 1] + there, 0, slot == 4 ? 0 : bytes - there);
    outputs[n] = {address, slot == 4 && !is_writable(address) ? 0 : there};
    memcpy(copy[slot - 1], reinterpret_cast<void*>(address), there);
    call.args[slot] = reinterpret_cast<long>(copy[slot - 1]);
    n++;
  }
  const bool off = state().live_threads > 1;
  if (off) leave_baton();
  const long result = interruptible_syscall(call, call.number, call.args);
  if (off) return_from_kernel();
  for (std::uint32_t i = 0, slot = 1; slot <= 4; slot++)
    if (call.logged[slot] != 0) {
      memcpy(reinterpret_cast<void*>(outputs[i].address), copy[slot - 1], outputs[i].bytes);
      i++;
    }
  log_call(call, result, outputs, n);
  return result;
}

}  // namespace reweave::core
