// Calls whose result is recorded: made live, in scratch memory without the baton if they may block, then logged with
// what they wrote; replaying, injected.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/address_space.h"
#include "recorder/core/dispatch.h"
#include "recorder/core/fatal.h"
#include "recorder/core/model.h"
#include "recorder/core/recorded_switches.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/scratch.h"
#include "recorder/core/syscalls/fd_table.h"
#include "recorder/core/syscalls/file_changes.h"
#include "recorder/core/syscalls/kept_files.h"
#include "recorder/core/syscalls/streams.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/core/syscalls/time_limits.h"
#include "recorder/core/tracing.h"

namespace reweave::core {

namespace {

Output outputs[kMaxOutputs];  // of the baton holder's current call

struct IoVector {
  std::uint64_t base;
  std::uint64_t bytes;
};

constexpr std::uint64_t kMostVectors = 1024;  // UIO_MAXIOV

// What the kernel reads before it writes: sizes of in-out address buffers, and the vector, where the data may be put.
struct Before {
  std::uint32_t socket_room[4];
  const IoVector* vector;
};

std::uint64_t bit_set_bytes(std::uint64_t count) { return (count - 1 + 63) / 64 * 8; }

std::uint32_t vector_outputs(const IoVector* vector, long count, long result, Output* to, std::uint32_t n) {
  auto left = static_cast<std::uint64_t>(result);
  for (long i = 0; i < count && left > 0 && n < kMaxOutputs; i++) {
    const std::uint64_t bytes = vector[i].bytes < left ? vector[i].bytes : left;
    if (bytes != 0) to[n++] = {vector[i].base, bytes};
    left -= bytes;
  }
  return n;
}

bool is_there(std::uint64_t address, std::uint64_t bytes) { return bytes_there(address, bytes) == bytes; }

// What is all there may have been scratch, with nothing from the kernel in it.
bool is_partly_there(std::uint64_t address, std::uint64_t bytes) { return !is_there(address, bytes); }

// The memory that `out` says the call wrote, appended to `to`.
std::uint32_t gather(const Call& call, const Out& out, const Before& before, int slot, long result, Output* to,
                     std::uint32_t n) {
  const auto address = static_cast<std::uint64_t>(call.logged[out.arg]);
  if (address == 0 && out.kind != OutKind::kSocket) return n;
  const auto count = static_cast<std::uint64_t>(call.logged[out.count]);
  const auto left = static_cast<std::uint64_t>(result);
  switch (out.kind) {
    case OutKind::kFixed:
      to[n++] = {address, out.size};
      break;
    case OutKind::kInOutFixed:  // what is left of a time limit is not told to whom keeps it in memory that is constant
      if (is_writable(address)) to[n++] = {address, bytes_there(address, out.size)};
      break;
    case OutKind::kByResult:
      // The result may be what there was to be had, or would be (recv with MSG_TRUNC, getgroups).
      if (result > 0) to[n++] = {address, (left < count ? left : count) * out.size};
      if (result == -EFAULT && is_partly_there(address, count * out.size)) to[n++] = {address, kPage};
      break;
    case OutKind::kByCount:
      if (result == -EFAULT && !is_partly_there(address, count * out.size)) break;
      [[fallthrough]];
    case OutKind::kInOutCount:
      to[n++] = {address, count * out.size};
      break;
    case OutKind::kByPage:
      to[n++] = {address, (count + 4095) / 4096};
      break;
    case OutKind::kMessage:
      if (!is_error(result)) to[n++] = {address, sizeof(long) + static_cast<std::uint64_t>(result)};
      break;
    case OutKind::kBits:
      if (count > 1) to[n++] = {address, bit_set_bytes(count)};
      break;
    case OutKind::kSocket: {
      if (!is_there(count, 4)) break;
      const std::uint32_t now = *reinterpret_cast<const std::uint32_t*>(count);
      const std::uint32_t room = before.socket_room[slot];
      to[n++] = {address, bytes_there(address, now < room ? now : room)};  // lists of netlink's tell more than there is
      to[n++] = {count, 4};
      break;
    }
    case OutKind::kVector:
      if (before.vector != nullptr && !is_error(result))
        return vector_outputs(before.vector, call.logged[out.count], result, to, n);
      break;
    default:
      break;
  }
  return n;
}

// The end of the thread's scratch.
std::uint64_t kept_vector(const Call& call) {
  return scratch_of(call.me) + kScratchBytes - kMostVectors * sizeof(IoVector);
}

// The program's vector, if the call writes where it says.
const IoVector* keep_vector(const Call& call, const Out& out) {
  const auto address = static_cast<std::uint64_t>(call.args[out.arg]);
  const auto count = static_cast<std::uint64_t>(call.args[out.count]);
  if ((call.row->flags & kWritesStream) != 0 || count > kMostVectors) return nullptr;
  if (!is_there(address, count * sizeof(IoVector))) return nullptr;
  auto* kept = reinterpret_cast<IoVector*>(kept_vector(call));
  memcpy(kept, reinterpret_cast<const void*>(address), count * sizeof(IoVector));
  return kept;
}

Before look_before(const Call& call) {
  Before before = {};
  for (int slot = 0; slot < 4 && call.row->outs[slot].kind != OutKind::kNone; slot++) {
    const Out& out = call.row->outs[slot];
    if (out.kind == OutKind::kVector) before.vector = keep_vector(call, out);
    if (out.kind == OutKind::kSocket && is_there(static_cast<std::uint64_t>(call.args[out.count]), 4))
      before.socket_room[slot] = *reinterpret_cast<const std::uint32_t*>(call.args[out.count]);
  }
  return before;
}

// Off the baton the kernel must not touch memory that other threads may use: arguments point to scratch meanwhile.
// A buffer that does not fit in the scratch stays where it is, and so does one that is not all there, for what is
// transferred before the kernel finds that out, and what is not, is its business.
class Scratch {
 public:
  explicit Scratch(Call& call) : call_(call), next_(scratch_of(call.me)), end_(kept_vector(call)) {
    for (const Out& out : call.row->outs) substitute(out);
  }

  // Copies what the call wrote to where the target wants it. The thread has the baton again.
  void copy_back(const Output* list, std::uint32_t count) const {
    for (std::uint32_t i = 0; i < count; i++)
      for (std::uint32_t m = 0; m < moves_; m++) copy_part(move_[m], list[i]);
  }

 private:
  struct Move {
    std::uint64_t original, scratch, bytes;
  };

  static void copy_part(const Move& move, const Output& output) {
    if (output.address < move.original || output.address >= move.original + move.bytes) return;
    const std::uint64_t offset = output.address - move.original;
    const std::uint64_t bytes = output.bytes < move.bytes - offset ? output.bytes : move.bytes - offset;
    memcpy(reinterpret_cast<void*>(output.address), reinterpret_cast<void*>(move.scratch + offset), bytes);
  }

  // Scratch for `bytes` at `original`, filled from there if the kernel reads it.
  std::uint64_t place(std::uint64_t original, std::uint64_t bytes, bool read_by_kernel) {
    if (original == 0 || bytes == 0 || bytes > end_ - next_ || moves_ == kMaxMoves || !is_there(original, bytes))
      return original;
    const std::uint64_t scratch = next_;
    next_ += round_to(bytes, 64);
    if (read_by_kernel) memcpy(reinterpret_cast<void*>(scratch), reinterpret_cast<void*>(original), bytes);
    move_[moves_++] = {original, scratch, bytes};
    return scratch;
  }

  void substitute(const Out& out) {
    long& arg = call_.args[out.arg];
    const auto address = static_cast<std::uint64_t>(arg);
    const auto count = static_cast<std::uint64_t>(call_.args[out.count]);
    std::uint64_t to = address;
    switch (out.kind) {
      case OutKind::kFixed:  // not all of it may be written: waitid's, if there is no child yet
      case OutKind::kInOutFixed:
        to = place(address, out.size, true);
        break;
      case OutKind::kByResult:
      case OutKind::kByCount:
        to = place(address, count * out.size, false);
        break;
      case OutKind::kInOutCount:
        to = place(address, count * out.size, true);
        break;
      case OutKind::kIn:
        to = place(address, count, true);
        break;
      case OutKind::kMessage:
        to = place(address, count + sizeof(long), false);
        break;
      case OutKind::kVector:
        to = place_vector(address, count);
        break;
      case OutKind::kSocket:
        if (address == 0 || !is_there(count, 4)) return;
        to = place(address, *reinterpret_cast<const std::uint32_t*>(count), false);
        call_.args[out.count] = static_cast<long>(place(count, 4, true));
        break;
      default:
        return;
    }
    arg = static_cast<long>(to);
  }

  std::uint64_t place_vector(std::uint64_t address, std::uint64_t count) {
    const std::uint64_t bytes = count * sizeof(IoVector);
    if (count > kMostVectors || bytes > end_ - next_ || !is_there(address, bytes)) return address;
    auto* copy = reinterpret_cast<IoVector*>(next_);
    memcpy(copy, reinterpret_cast<void*>(address), bytes);
    next_ += round_to(bytes, 64);
    const bool input = (call_.row->flags & kWritesStream) != 0;
    for (std::uint64_t i = 0; i < count; i++) copy[i].base = place(copy[i].base, copy[i].bytes, input);
    return reinterpret_cast<std::uint64_t>(copy);
  }

  static constexpr std::uint32_t kMaxMoves = 64;
  Call& call_;
  std::uint64_t next_;
  std::uint64_t end_;
  std::uint32_t moves_ = 0;
  Move move_[kMaxMoves];
};

bool writes_outputs(const Call& call, long result) {
  const std::uint16_t flags = call.row->flags;
  if (result == -EFAULT) return true;  // the kernel may have written what comes before the place that is not there
  if ((flags & kWritesIfInterrupted) != 0) return result == -EINTR;
  if ((flags & kWritesIfPositive) != 0) return result > 0;
  return result != kNotStarted && (!is_error(result) || (flags & kWritesOnError) != 0);
}

std::uint32_t gather_all(const Call& call, const Before& before, long result) {
  std::uint32_t n = 0;
  if (!writes_outputs(call, result)) return 0;
  for (int slot = 0; slot < 4 && call.row->outs[slot].kind != OutKind::kNone; slot++)
    n = gather(call, call.row->outs[slot], before, slot, result, outputs, n);
  // What the kernel refused to write to may not be there, or be constant.
  for (std::uint32_t i = 0; is_error(result) && i < n; i++)
    outputs[i].bytes = bytes_writable(outputs[i].address, outputs[i].bytes);
  return n;
}

long make_off_baton(Call& call, const Before& before, std::uint32_t& count) {
  Scratch scratch(call);
  call.flags |= wire::kLeftBaton;
  leave_baton();
  const long result = interruptible_syscall(call, call.number, call.args);
  return_from_kernel();
  // The length of a socket address is itself an output: put it in place before sizes are taken from it.
  for (const Out& out : call.row->outs)
    if (out.kind == OutKind::kSocket && !is_error(result)) {
      const Output length = {static_cast<std::uint64_t>(call.logged[out.count]), 4};
      scratch.copy_back(&length, 1);
    }
  count = gather_all(call, before, result);
  scratch.copy_back(outputs, count);
  return result;
}

void note_descriptors(const Call& call, long result) {
  if (is_error(result)) return;
  if ((call.row->flags & kNewFd) != 0) forget_fd(result);
  if (call.number == SYS_socket) note_socket(result, call.logged[0]);
  if (call.number == SYS_accept || call.number == SYS_accept4) note_accepted(result, call.logged[0]);
  if ((call.row->flags & kNewFdPair) != 0) {
    const auto* pair = reinterpret_cast<const int*>(call.logged[call.row->outs[0].arg]);
    forget_fd(pair[0]);
    forget_fd(pair[1]);
  }
}

bool may_sleep(const Call& call) {
  if ((call.row->flags & kBlocks) != 0) return true;
  return (call.row->flags & kMayBlock) != 0 && fd_may_block(call.args[0]);
}

// A descriptor that does not wait: an event loop reads and writes all of its many with the baton. Otherwise the others
// would each have their time slice at every one of these calls.
bool returns_at_once(const Call& call) {
  if ((call.row->flags & kBlocks) != 0) return false;
  const long flags = sys(SYS_fcntl, call.args[0], F_GETFL, 0);
  return is_error(flags) || (flags & O_NONBLOCK) != 0;
}

// If nobody else could run meanwhile, a call may as well sleep with the baton.
bool blocks(const Call& call) { return state().live_threads > 1 && may_sleep(call) && !returns_at_once(call); }

// Makes the call with the baton. A signal interrupts no call but one that may sleep (man 7 signal): elsewhere programs
// do not expect EINTR.
long make(Call& call) {
  const bool sleeps = may_sleep(call);
  lend_baton();
  const long result =
      sleeps ? interruptible_syscall(call, call.number, call.args) : syscall_with_stops(call, call.args);
  if (take_back_baton()) call.flags |= wire::kLeftBaton;
  return result;
}

// Replay: what went to the standard output of the recorded run goes to ours.
void repeat_write(const Call& call, long result) {
  if ((call.flags & (wire::kWritesStdout | wire::kWritesStderr)) == 0 || result <= 0) return;
  const int fd = (call.flags & wire::kWritesStdout) != 0 ? 1 : 2;
  auto emit = [fd](std::uint64_t address, std::uint64_t bytes) {
    while (bytes > 0) {
      const long n = sys(SYS_write, fd, address, bytes);
      if (n <= 0 && n != -EINTR && n != -EAGAIN) return;
      if (n > 0) address += static_cast<std::uint64_t>(n), bytes -= static_cast<std::uint64_t>(n);
    }
  };
  if ((call.row->flags & kWritesStream) == 0) return emit(scratch_of(call.me), static_cast<std::uint64_t>(result));
  if (call.row->outs[0].kind != OutKind::kVector)
    return emit(static_cast<std::uint64_t>(call.logged[1]), static_cast<std::uint64_t>(result));
  const auto* vector = reinterpret_cast<const IoVector*>(call.logged[1]);
  const std::uint32_t n = vector_outputs(vector, call.logged[2], result, outputs, 0);
  for (std::uint32_t i = 0; i < n; i++) emit(outputs[i].address, outputs[i].bytes);
}

}  // namespace

long interruptible_syscall(const Call& call, long number, const long* args) {
  TimeLimit limit(number, args);
  for (bool started = false;; args = limit.left()) {
    const std::uint32_t before = call.me.unseen_signals;
    long result = core_blocking_syscall(number, args, interruptions_of(call.me));
    started = started || result != kNotStarted;
    if (started && result == kNotStarted) result = -EINTR;
    const bool kicked = call.me.kicked.load() != 0 && call.me.kicked.exchange(0) != 0;
    if (kicked && call.me.queued.load() == 0 && (result == kNotStarted || result == -EINTR)) {
      if (waits_for_children(call.me)) return kNotStarted;
      continue;
    }
    if (result == -EINTR && call.me.queued.load() == 0 && call.me.unseen_signals != before) continue;
    return result == kNotStarted && (call.row->flags & kRestarts) == 0 ? -EINTR : result;
  }
}

long syscall_with_stops(const Call& call, const long* args) {
  for (;;) {
    const std::uint32_t before = call.me.unseen_signals;
    const long result = sys(call.number, args[0], args[1], args[2], args[3], args[4], args[5]);
    if (result != -EINTR || call.me.queued.load() != 0 || call.me.unseen_signals == before) return result;
  }
}

long answered_call(Call& call) {
  if (replaying()) follow_recorded_switches(wire::SwitchReason::kInKernel);
  if (replaying() && (call.row->flags & kChangesFile) != 0) repeat_file_changes();
  return replaying() ? inject(call) : model_call(call);
}

long recorded_call(Call& call, bool may_block) {
  if (!live()) {
    const long result = answered_call(call);
    if (replaying()) repeat_write(call, result);
    note_descriptors(call, result);
    return result;
  }
  const Before before = look_before(call);
  if ((call.row->flags & kWritesStream) != 0) call.flags |= fd_stream(call.args[0]);
  std::uint32_t count = 0;
  long result;
  call.made = true;
  if (may_block && is_stream_write(call)) {
    result = write_to_stream(call);
  } else if (may_block) {
    result = make_off_baton(call, before, count);
  } else {
    result = make(call);
    count = gather_all(call, before, result);
  }
  if ((call.row->flags & kChangesFile) != 0) log_file_change(call, result);
  if ((call.flags & wire::kLeftBaton) == 0 && reads_kept_file(call, result))
    log_file_read(call, result, outputs[0]);
  else
    log_call(call, result, outputs, count);
  note_descriptors(call, result);
  return result;
}

namespace {

// What the program may not see: a call on one of our descriptors, or on what a path leads to from there.
bool names_ours(const Call& call) {
  if ((call.row->flags & (kFirstIsFd | kFirstIsFolder)) == 0 || !is_our_fd(call.args[0])) return false;
  const auto* path = reinterpret_cast<const char*>(call.args[1]);
  return (call.row->flags & kFirstIsFd) != 0 || path == nullptr || *path != '/';
}

}  // namespace

long recorded_call(Call& call) {
  if (names_ours(call)) return complete(call, -EBADF);
  return recorded_call(call, live() && blocks(call));
}

}  // namespace reweave::core
