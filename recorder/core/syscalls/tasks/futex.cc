// futex, the one blocking primitive: emulated, so that any lock built on it is deterministic (futex(2)).
#include <linux/futex.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/departure.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/handlers.h"

namespace reweave::core {

namespace {

std::uint32_t& word_at(std::uint64_t address) { return *reinterpret_cast<std::uint32_t*>(address); }

std::int64_t clock_now(int clock) {
  std::int64_t time[2];
  sys(SYS_clock_gettime, clock, time);
  return time[0] * 1'000'000'000 + time[1];
}

// Deadlines are kept on CLOCK_MONOTONIC.
std::int64_t deadline_of(const Call& call, int operation, bool realtime) {
  if (call.args[3] == 0) return kNoDeadline;
  const auto* time = reinterpret_cast<const std::int64_t*>(call.args[3]);
  const std::int64_t given = time[0] * 1'000'000'000 + time[1];
  if (replaying()) {  // the recording says what timed out
    departure_of(call.me).limit = {true, operation == FUTEX_WAIT ? WaitLimit::kFromNow : realtime ? 0 : 1, given};
    return 0;
  }
  if (modelled())
    return operation == FUTEX_WAIT ? state().virtual_now + given : explored.deadline(realtime ? 0 : 1, given);
  if (operation == FUTEX_WAIT) return clock_now(1) + given;
  return realtime ? clock_now(1) + (given - clock_now(0)) : given;
}

bool valid_time(long address) {
  if (address == 0) return true;
  const auto* time = reinterpret_cast<const std::int64_t*>(address);
  return time[0] >= 0 && time[1] >= 0 && time[1] < 1'000'000'000;
}

long wait(Call& call, int operation, bool realtime) {
  const auto address = static_cast<std::uint64_t>(call.args[0]);
  if (!valid_time(call.args[3])) return complete(call, -EINVAL);
  const std::uint32_t bitset =
      operation == FUTEX_WAIT_BITSET ? static_cast<std::uint32_t>(call.args[5]) : FUTEX_BITSET_MATCH_ANY;
  if (bitset == 0) return complete(call, -EINVAL);
  if (region_at(address) == nullptr) return complete(call, -EFAULT);
  if (word_at(address) != static_cast<std::uint32_t>(call.args[2])) return complete(call, -EAGAIN);
  WaitArgs args = {WaitKind::kFutex, object_key(address), address};
  args.deadline = deadline_of(call, operation, realtime);
  args.bitset = bitset;
  switch (block(args)) {
    case WaitResult::kWoken:
      return complete(call, 0);
    case WaitResult::kTimedOut:
      return complete(call, -ETIMEDOUT);
    case WaitResult::kInterrupted:
      return complete(call, -EINTR);
  }
  bug("wait result");
}

long wake_waiters(Call& call, std::uint32_t bitset) {
  if (bitset == 0) return complete(call, -EINVAL);
  const std::uint64_t key = object_key(static_cast<std::uint64_t>(call.args[0]));
  return complete(call, wake(WaitKind::kFutex, key, static_cast<std::uint32_t>(call.args[2]), bitset));
}

// The lowest twelve bits as a signed number: an operand of FUTEX_WAKE_OP.
std::int32_t signed_12_bits(std::uint32_t code) { return static_cast<std::int32_t>(code << 20) >> 20; }

// FUTEX_WAKE_OP (futex(2) has the encoding).
long wake_op(Call& call) {
  const auto code = static_cast<std::uint32_t>(call.args[5]);
  auto operand = static_cast<std::uint32_t>(signed_12_bits(code >> 12));
  if ((code >> 28 & 8) != 0) operand = 1u << (operand & 31);
  std::uint32_t& word = word_at(static_cast<std::uint64_t>(call.args[4]));
  const std::uint32_t old = word;
  switch (code >> 28 & 7) {
    case FUTEX_OP_SET:
      word = operand;
      break;
    case FUTEX_OP_ADD:
      word = old + operand;
      break;
    case FUTEX_OP_OR:
      word = old | operand;
      break;
    case FUTEX_OP_ANDN:
      word = old & ~operand;
      break;
    case FUTEX_OP_XOR:
      word = old ^ operand;
      break;
    default:
      return complete(call, -ENOSYS);
  }
  const auto a = static_cast<std::int32_t>(old);
  const std::int32_t b = signed_12_bits(code);
  const bool holds[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
  const std::uint32_t comparison = code >> 24 & 15;
  if (comparison > 5) return complete(call, -ENOSYS);
  std::uint32_t woken = wake(WaitKind::kFutex, object_key(static_cast<std::uint64_t>(call.args[0])),
                             static_cast<std::uint32_t>(call.args[2]));
  if (holds[comparison])
    woken += wake(WaitKind::kFutex, object_key(static_cast<std::uint64_t>(call.args[4])),
                  static_cast<std::uint32_t>(call.args[3]));
  return complete(call, woken);
}

long requeue_waiters(Call& call, bool compare) {
  const auto from = static_cast<std::uint64_t>(call.args[0]);
  const auto to = static_cast<std::uint64_t>(call.args[4]);
  if (static_cast<std::int32_t>(call.args[2]) < 0 || static_cast<std::int32_t>(call.args[3]) < 0)
    return complete(call, -EINVAL);
  if (compare && word_at(from) != static_cast<std::uint32_t>(call.args[5])) return complete(call, -EAGAIN);
  const std::uint32_t woken = wake(WaitKind::kFutex, object_key(from), static_cast<std::uint32_t>(call.args[2]));
  const std::uint32_t moved = requeue(object_key(from), object_key(to), to, static_cast<std::uint32_t>(call.args[3]));
  return complete(call, woken + moved);
}

// Priority inheritance affects which thread runs, which the core decides. So only the lock's owner is kept.
long lock_pi(Call& call, std::uint64_t address, std::int64_t deadline, bool may_wait) {
  const auto tid = static_cast<std::uint32_t>(call.me.tid);
  for (std::uint32_t waited = 0;;
       waited = FUTEX_WAITERS) {  // the kernel leaves FUTEX_WAITERS set when it hands a lock over
    std::uint32_t& word = word_at(address);
    const std::uint32_t owner = word & FUTEX_TID_MASK;
    if (owner == tid) return complete(call, -EDEADLK);
    if (owner == 0) {
      word = tid | waited | (word & FUTEX_OWNER_DIED);
      return complete(call, 0);
    }
    word |= FUTEX_WAITERS;  // as the kernel does before it looks for the owner
    if (thread_by_tid(owner) == nullptr) return complete(call, -ESRCH);
    if (!may_wait) return complete(call, -EAGAIN);
    WaitArgs args = {WaitKind::kFutex, object_key(address), address};
    args.deadline = deadline;
    args.owner_tid = static_cast<std::int32_t>(owner);
    const WaitResult result = block(args);
    if (result == WaitResult::kTimedOut) return complete(call, -ETIMEDOUT);
    if (result == WaitResult::kInterrupted) return complete(call, -EINTR);
  }
}

long unlock_pi(Call& call) {
  const auto address = static_cast<std::uint64_t>(call.args[0]);
  std::uint32_t& word = word_at(address);
  if ((word & FUTEX_TID_MASK) != static_cast<std::uint32_t>(call.me.tid)) return complete(call, -EPERM);
  word = 0;
  wake(WaitKind::kFutex, object_key(address), ~0u);
  return complete(call, 0);
}

// Waits at one futex for the lock at the other, which cmp_requeue_pi grants.
long wait_requeue_pi(Call& call, bool realtime) {
  const auto from = static_cast<std::uint64_t>(call.args[0]), to = static_cast<std::uint64_t>(call.args[4]);
  if (!valid_time(call.args[3]) || from == to) return complete(call, -EINVAL);
  if (word_at(from) != static_cast<std::uint32_t>(call.args[2])) return complete(call, -EAGAIN);
  WaitArgs args = {WaitKind::kFutex, object_key(from), from};
  args.deadline = deadline_of(call, FUTEX_WAIT_BITSET, realtime);
  const WaitResult result = block(args);
  if (result == WaitResult::kTimedOut) return complete(call, -ETIMEDOUT);
  if (result == WaitResult::kInterrupted) return complete(call, -EINTR);
  return lock_pi(call, to, kNoDeadline, true);
}

// Waiters that the kernel would move to the lock's queue get there by themselves when they are woken.
long requeue_pi(Call& call) {
  const auto from = static_cast<std::uint64_t>(call.args[0]);
  if (call.args[2] != 1 || call.args[3] < 0 || call.args[0] == call.args[4]) return complete(call, -EINVAL);
  if (word_at(from) != static_cast<std::uint32_t>(call.args[5])) return complete(call, -EAGAIN);
  return complete(call, wake(WaitKind::kFutex, object_key(from), 1 + static_cast<std::uint32_t>(call.args[3])));
}

}  // namespace

namespace {

// The arguments and flags of an operation (futex(2)).
struct Operation {
  std::uint32_t arguments;  // arguments that it reads, one bit each
  bool realtime;            // FUTEX_CLOCK_REALTIME is allowed
};

constexpr Operation kOperations[] = {
    {0b001111, false},  // WAIT
    {0b000111, false},  // WAKE
    {0b000000, false},  // FD
    {0b011111, false},  // REQUEUE
    {0b111111, false},  // CMP_REQUEUE
    {0b111111, false},  // WAKE_OP
    {0b001011, false},  // LOCK_PI
    {0b000011, false},  // UNLOCK_PI
    {0b000011, false},  // TRYLOCK_PI
    {0b101111, true},   // WAIT_BITSET
    {0b100111, false},  // WAKE_BITSET
    {0b011111, true},   // WAIT_REQUEUE_PI
    {0b111111, false},  // CMP_REQUEUE_PI
    {0b001011, true},   // LOCK_PI2
};

// The kernel's check of a futex address: 0 or the error. A shared futex must be mapped, because its page identifies it.
long futex_error(std::uint64_t address, bool shared) {
  constexpr std::uint64_t kUserEnd = 0x7fff'ffff'f000;
  if (address % 4 != 0) return -EINVAL;
  if (address > kUserEnd) return -EFAULT;
  const Region* region = shared ? region_at(address) : nullptr;
  return shared && (region == nullptr || region->prot == 0) ? -EFAULT : 0;
}

long arguments_error(const Call& call, const Operation& operation, int raw) {
  const bool shared = (raw & FUTEX_PRIVATE_FLAG) == 0;
  if ((raw & FUTEX_CLOCK_REALTIME) != 0 && !operation.realtime) return -ENOSYS;
  const long first = futex_error(static_cast<std::uint64_t>(call.args[0]), shared);
  const bool has_second = (operation.arguments >> 4 & 1) != 0;
  return first != 0 || !has_second ? first : futex_error(static_cast<std::uint64_t>(call.args[4]), shared);
}

long operate(Call& call) {
  const auto raw = static_cast<int>(call.args[1]);
  const int operation = raw & FUTEX_CMD_MASK;
  const bool realtime = (raw & FUTEX_CLOCK_REALTIME) != 0;
  const auto address = static_cast<std::uint64_t>(call.args[0]);
  const auto index = static_cast<std::uint32_t>(operation);
  if (index >= sizeof kOperations / sizeof kOperations[0]) return complete(call, -ENOSYS);
  // Arguments that an operation does not read are leftovers in registers, not part of the call.
  for (int i = 0; i < 6; i++)
    if ((kOperations[index].arguments >> i & 1) == 0) call.logged[i] = 0;
  const long error = arguments_error(call, kOperations[index], raw);
  if (error != 0) return complete(call, error);
  switch (operation) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      return wait(call, operation, realtime);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
      return wake_waiters(call,
                          operation == FUTEX_WAKE ? FUTEX_BITSET_MATCH_ANY : static_cast<std::uint32_t>(call.args[5]));
    case FUTEX_WAKE_OP:
      return wake_op(call);
    case FUTEX_REQUEUE:
      return requeue_waiters(call, false);
    case FUTEX_CMP_REQUEUE:
      return requeue_waiters(call, true);
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
      if (!valid_time(call.args[3])) return complete(call, -EINVAL);
      return lock_pi(call, address, deadline_of(call, FUTEX_WAIT_BITSET, operation == FUTEX_LOCK_PI || realtime), true);
    case FUTEX_TRYLOCK_PI:
      return lock_pi(call, address, kNoDeadline, false);
    case FUTEX_WAIT_REQUEUE_PI:
      return wait_requeue_pi(call, realtime);
    case FUTEX_CMP_REQUEUE_PI:
      return requeue_pi(call);
    case FUTEX_UNLOCK_PI:
      return unlock_pi(call);
    default:
      return complete(call, -ENOSYS);
  }
}

}  // namespace

long handle_futex(Call& call) {
  const long result = operate(call);
  if (call.completed) give_way_to_woken();
  return result;
}

namespace {

// Checks futex_waitv's `flags`: 32 bits wide, private or not; the kernel knows no others.
bool valid_waiter(const struct futex_waitv& waiter) {
  constexpr std::uint32_t kWidth32 = 2, kPrivate = 128;
  return (waiter.flags & ~kPrivate) == kWidth32 && waiter.__reserved == 0;
}

// Waits, then completes the call with the index of the futex that was woken, or with an error.
long wait_for_any(Call& call, FutexVector& vector, std::int64_t deadline) {
  WaitArgs args = {WaitKind::kFutexVector, reinterpret_cast<std::uint64_t>(&vector), 0};
  args.deadline = deadline;
  const WaitResult result = block(args);
  const long woken = vector.woken;
  vector.count = 0;
  if (result == WaitResult::kTimedOut) return complete(call, -ETIMEDOUT);
  return complete(call, result == WaitResult::kInterrupted ? -EINTR : woken);
}

FutexVector* free_vector() {
  RuntimeState& s = state();
  std::uint32_t i = 0;
  while (i < s.futex_vectors_used && s.futex_vectors[i].count != 0) i++;
  if (i == kMaxFutexVectors) return nullptr;
  if (i == s.futex_vectors_used)
    s.futex_vectors[s.futex_vectors_used++].count = 0;  // may be left from an earlier explored run
  return &s.futex_vectors[i];
}

}  // namespace

long handle_futex_waitv(Call& call) {
  const auto* waiters = reinterpret_cast<const struct futex_waitv*>(call.args[0]);
  const auto count = static_cast<std::uint64_t>(call.args[1]);
  const long clock = call.args[4];
  if (call.args[2] != 0 || count == 0 || count > FUTEX_WAITV_MAX) return complete(call, -EINVAL);
  if (call.args[3] == 0) call.logged[4] = 0;
  if (call.args[3] != 0 && ((clock != 0 && clock != 1) || !valid_time(call.args[3]))) return complete(call, -EINVAL);
  for (std::uint64_t i = 0; i < count; i++) {
    struct futex_waitv waiter;
    memcpy(&waiter, waiters + i, sizeof waiter);
    if (!valid_waiter(waiter)) return complete(call, -EINVAL);
  }
  for (std::uint64_t i = 0; i < count; i++) {
    if (waiters[i].uaddr % 4 != 0) return complete(call, -EINVAL);
    if (region_at(waiters[i].uaddr) == nullptr) return complete(call, -EFAULT);
  }
  FutexVector* vector = free_vector();
  if (vector == nullptr) return complete(call, -ENOMEM);
  for (std::uint64_t i = 0; i < count; i++) {
    if (word_at(waiters[i].uaddr) != static_cast<std::uint32_t>(waiters[i].val)) return complete(call, -EAGAIN);
    vector->keys[i] = object_key(waiters[i].uaddr);
  }
  vector->count = static_cast<std::uint32_t>(count);
  return wait_for_any(call, *vector, deadline_of(call, FUTEX_WAIT_BITSET, clock == 0));
}

}  // namespace reweave::core
