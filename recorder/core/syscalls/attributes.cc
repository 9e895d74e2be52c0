// Calls that get or set attributes of processes and threads for which the core, not the kernel, has the right answer,
// and calls whose outputs depend on a command.
#include <sys/resource.h>
#include <sys/syscall.h>

#include "recorder/core/image/image.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

struct Limit {
  std::uint64_t soft, hard;
};

// Live: makes the call and logs it with its output.
long make_and_log(Call& call, std::uint64_t address, std::uint64_t bytes) {
  const long result = lent_call(call.number, call.args[0], call.args[1], call.args[2], call.args[3], call.args[4]);
  return log_value(call, result, address, is_error(result) ? 0 : bytes);
}

}  // namespace

// Version 1 has 32 capabilities and half the data of the others; the kernel answers an unknown version with a known one
// (capget(2)).
long handle_capget(Call& call) {
  constexpr std::uint32_t kVersion1 = 0x19980330;
  constexpr std::uint64_t kHeaderBytes = 8, kBytes1 = 12, kBytes = 24;
  const auto header = static_cast<std::uint64_t>(call.args[0]), data = static_cast<std::uint64_t>(call.args[1]);
  const bool first =
      bytes_there(header, kHeaderBytes) == kHeaderBytes && *reinterpret_cast<const std::uint32_t*>(header) == kVersion1;
  const long result = sys(SYS_capget, header, data);
  const std::uint64_t bytes = result == -EINVAL ? 0 : bytes_writable(data, first ? kBytes1 : kBytes);
  const Output outputs[] = {{header, bytes_writable(header, kHeaderBytes)}, {data, bytes}};
  log_call(call, result, outputs, 2);
  return result;
}

namespace {

// A call that gets or sets a limit, or both; the addresses may be 0.
struct LimitCall {
  long pid, resource, set, get;
};

// The limit of the address space would also apply to the core's mappings, so the core keeps and enforces it
// (memory.cc). `needs_address`: without any address the call fails with EFAULT.
long limit_resource(Call& call, const LimitCall& asked, bool needs_address) {
  const auto [pid, resource, set, get] = asked;
  const bool own = pid == 0 || pid == process().pid;
  if (own && resource == RLIMIT_STACK && set != 0) {
    const std::uint64_t wanted = reinterpret_cast<const Limit*>(set)->soft;
    const long result = recorded_call(call);
    if (result == 0) grow_stack(wanted);
    return result;
  }
  Process& here = process();
  if (!own || resource != RLIMIT_AS || (here.memory_limit == 0 && set == 0 && get != 0)) return recorded_call(call);
  if (needs_address && set == 0 && get == 0) return complete(call, -EFAULT);
  const Limit old = {here.memory_limit - 1, here.memory_hard_limit - 1};
  if (set != 0) {
    const Limit wanted = *reinterpret_cast<const Limit*>(set);
    if (wanted.soft > wanted.hard) return complete(call, -EINVAL);
    here.memory_limit = wanted.soft + 1;
    here.memory_hard_limit = wanted.hard + 1;
  }
  if (get != 0) *reinterpret_cast<Limit*>(get) = old;
  // The first program's initial limit comes from the recording, not from the process that replays.
  if (replaying()) return inject(call);
  return log_value(call, 0, static_cast<std::uint64_t>(get), sizeof(Limit));
}

}  // namespace

long handle_getrlimit(Call& call) { return limit_resource(call, {0, call.args[0], 0, call.args[1]}, true); }
long handle_setrlimit(Call& call) { return limit_resource(call, {0, call.args[0], call.args[1], 0}, true); }
long handle_prlimit64(Call& call) {
  return limit_resource(call, {call.args[0], call.args[1], call.args[2], call.args[3]}, false);
}

// An orphan is the supervisor's child; natively it would be the child of init (process 1).
long handle_getppid(Call& call) {
  const long parent = sys(SYS_getppid);
  const bool lost = parent == config().supervisor && process().index != 0;
  const long result = lost ? 1 : parent;
  log_call(call, result, nullptr, 0);
  return result;
}

// All threads share one processor. For a thread that set its affinity, reports a processor from its own affinity mask
// instead.
long handle_getcpu(Call& call) {
  if (!live() || call.me.affinity_bytes == 0) return recorded_call(call);
  unsigned cpu = 0;
  while (cpu < 1023 && (call.me.affinity[cpu / 64] >> cpu % 64 & 1) == 0) cpu++;
  unsigned real_cpu = 0, node = 0;
  const long result = sys(SYS_getcpu, &real_cpu, &node, nullptr);
  if (real_cpu < 1024 && (call.me.affinity[real_cpu / 64] >> real_cpu % 64 & 1) != 0) cpu = real_cpu;
  Output outputs[2];
  std::uint32_t n = 0;
  const unsigned values[] = {cpu, node};
  for (int i = 0; i < 2; i++) {
    if (call.args[i] == 0) continue;
    *reinterpret_cast<unsigned*>(call.args[i]) = values[i];
    outputs[n++] = {static_cast<std::uint64_t>(call.args[i]), sizeof(unsigned)};
  }
  log_call(call, result, outputs, n);
  return result;
}

long handle_keyctl(Call& call) {
  struct Command {
    long number;
    int buffer, room;  // arguments
  };
  constexpr Command kCommands[] = {
      {6 /* DESCRIBE */, 2, 3}, {11 /* READ */, 2, 3}, {17 /* GET_SECURITY */, 2, 3}, {31 /* CAPABILITIES */, 1, 2}};
  const long result = sys(SYS_keyctl, call.args[0], call.args[1], call.args[2], call.args[3], call.args[4]);
  Output output = {0, 0};
  for (const Command& command : kCommands) {
    if (command.number != call.args[0] || result <= 0) continue;
    const auto whole = static_cast<std::uint64_t>(result), room = static_cast<std::uint64_t>(call.args[command.room]);
    const auto buffer = static_cast<std::uint64_t>(call.args[command.buffer]);
    output = {buffer, bytes_there(buffer, whole < room ? whole : room)};
  }
  log_call(call, result, &output, output.address != 0 && output.bytes != 0 ? 1 : 0);
  return result;
}

long handle_quotactl(Call& call) {
  struct Command {
    std::uint32_t number;
    std::uint64_t bytes;
  };
  constexpr Command kCommands[] = {
      {0x800004, 4},  {0x800005, 24}, {0x800007, 72},  // Q_GETFMT, Q_GETINFO, Q_GETQUOTA
      {0x800009, 72}, {0x5803, 112},  {0x5805, 80},    // Q_GETNEXTQUOTA, Q_XGETQUOTA, Q_XGETQSTAT
      {0x5808, 160},  {0x5809, 112}};                  // Q_XGETQSTATV, Q_XGETNEXTQUOTA
  std::uint64_t bytes = 0;
  for (const Command& command : kCommands)
    if (command.number == static_cast<std::uint32_t>(call.args[0]) >> 8) bytes = command.bytes;
  return make_and_log(call, static_cast<std::uint64_t>(call.args[3]), bytes);
}

// Descriptors that the program writes to its table must exist in a replay too. The kernel returns errors as a 32-bit
// int, which look like large sizes in a 64-bit register (kernel/ldt.c).
long handle_modify_ldt(Call& call) {
  constexpr long kWrite = 1, kWriteNew = 0x11;
  const bool writes = call.args[0] == kWrite || call.args[0] == kWriteNew;
  if (!writes && !live()) return answered_call(call);
  const long result = sys(SYS_modify_ldt, call.args[0], call.args[1], call.args[2]);
  if (writes) return complete(call, result);
  constexpr long kMost = 8192 * 8;  // the most that the table or the default descriptors have
  const Output output = {static_cast<std::uint64_t>(call.args[1]), static_cast<std::uint64_t>(result)};
  log_call(call, result, &output, result > 0 && result <= call.args[2] && result <= kMost ? 1 : 0);
  return result;
}

long handle_sysfs(Call& call) {
  constexpr long kNameOf = 2;
  const long result = sys(SYS_sysfs, call.args[0], call.args[1], call.args[2]);
  const auto* name = reinterpret_cast<const char*>(call.args[2]);
  const bool named = call.args[0] == kNameOf && result == 0;
  return log_value(call, result, static_cast<std::uint64_t>(call.args[2]), named ? string_length(name) + 1 : 0);
}

// Only the reading commands write to the buffer; other commands return a size.
long handle_syslog(Call& call) {
  constexpr long kRead = 2, kReadClear = 4;  // READ_ALL is between them
  if (call.args[0] < kRead || call.args[0] > kReadClear) call.logged[1] = 0;
  return recorded_call(call);
}

}  // namespace reweave::core
