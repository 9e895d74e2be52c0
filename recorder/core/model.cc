#include "recorder/core/model.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/deadlock.h"
#include "recorder/core/fatal.h"
#include "recorder/core/modelled_signals.h"
#include "recorder/core/modelled_time.h"
#include "recorder/core/pseudo_calls.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/core/waits.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kNumbers = 512;
constexpr std::uint32_t kNone = ~0u;
constexpr std::uint64_t kNoParts = ~std::uint64_t{0};

// A recorded call, in a list of those with its number.
struct Recorded {
  std::uint64_t offset;  // of its SyscallRecord in the feed
  std::uint64_t parts;   // of the first record with parts of its outputs, or `offset`
  std::uint32_t next;
  std::uint16_t thread;
  bool used;
};

Recorded* calls;
std::uint32_t heads[kNumbers];
std::uint32_t tails[kNumbers];

const wire::RecordHeader* record_at(std::uint64_t offset) {
  return reinterpret_cast<const wire::RecordHeader*>(kFeedBase + (offset & (arena().feed.bytes - 1)));
}

const wire::SyscallRecord& call_at(const Recorded& entry) {
  return *reinterpret_cast<const wire::SyscallRecord*>(record_at(entry.offset));
}

void add(std::uint32_t index, std::uint64_t offset, std::uint64_t parts) {
  const auto& record = *reinterpret_cast<const wire::SyscallRecord*>(record_at(offset));
  calls[index] = {offset, parts, kNone, record.header.thread, false};
  const std::uint32_t number = record.number;
  if (heads[number] == kNone)
    heads[number] = index;
  else
    calls[tails[number]].next = index;
  tails[number] = index;
}

// Is `entry` an answer to `call`? Exact: the recorded thread's own; otherwise any thread's. Descriptors must agree.
bool answers(const Call& call, const Recorded& entry, bool exact) {
  if (entry.used) return false;
  const bool by_descriptor = (call.row->flags & kFirstIsFd) != 0;
  if (by_descriptor) return call_at(entry).args[0] == static_cast<std::uint64_t>(call.logged[0]);
  return !exact || entry.thread == call.me.id;
}

Recorded* find(const Call& call) {
  if (call.number < 0 || call.number >= static_cast<long>(kNumbers)) return nullptr;
  for (bool exact : {true, false})
    for (std::uint32_t i = heads[call.number]; i != kNone; i = calls[i].next)
      if (answers(call, calls[i], exact)) return &calls[i];
  return nullptr;
}

// Where an output of the recorded call goes in this one: pointers may differ between the runs, arguments correspond.
std::uint64_t rebase(const Call& call, const wire::SyscallRecord& record, std::uint64_t address) {
  std::uint64_t best = 0, target = address;
  for (int i = 0; i < call.row->argument_count; i++) {
    if (record.args[i] == 0 || record.args[i] > address || record.args[i] < best) continue;
    if (address - record.args[i] > (1 << 24)) continue;
    best = record.args[i];
    target = static_cast<std::uint64_t>(call.logged[i]) + (address - record.args[i]);
  }
  return target;
}

// Writes the outputs that `holder` has of the call `record` to memory, and appends them to `outputs`.
std::uint32_t take_outputs(const Call& call, const wire::SyscallRecord& record, const wire::RecordHeader* holder,
                           Output* outputs, std::uint32_t n) {
  const auto* bytes = reinterpret_cast<const std::byte*>(holder);
  for (std::uint64_t at = sizeof record; at + sizeof(wire::OutputChunk) <= holder->bytes && n < kMaxOutputs;) {
    wire::OutputChunk chunk;
    memcpy(&chunk, bytes + at, sizeof chunk);
    at += sizeof chunk;
    if (chunk.bytes > holder->bytes - at) break;
    outputs[n] = {rebase(call, record, chunk.address), chunk.bytes};
    memcpy(reinterpret_cast<void*>(outputs[n].address), bytes + at, chunk.bytes);
    n++;
    at += round_to(chunk.bytes, 8);
  }
  return n;
}

long answer_from(Call& call, Recorded& entry) {
  static Output outputs[kMaxOutputs];
  const wire::SyscallRecord& record = call_at(entry);
  entry.used = true;
  std::uint32_t n = 0;
  for (std::uint64_t at = entry.parts; at <= entry.offset; at += record_at(at)->bytes)
    n = take_outputs(call, record, record_at(at), outputs, n);
  log_call(call, record.result, outputs, n);
  return record.result;
}

long log_value(Call& call, long result, std::uint64_t address, std::uint64_t bytes) {
  const Output output = {address, bytes};
  log_call(call, result, &output, address != 0 && bytes != 0 ? 1 : 0);
  return result;
}

long model_clock(Call& call) {
  const bool clock_call = call.number == SYS_clock_gettime;
  const std::int64_t now = look_at_clock(clock_call ? call.logged[0] : 0 /* CLOCK_REALTIME */);
  const auto address = static_cast<std::uint64_t>(call.logged[clock_call ? 1 : 0]);
  auto* out = reinterpret_cast<std::int64_t*>(address);
  if (call.number == SYS_time) {
    if (address != 0) out[0] = now / 1'000'000'000;
    return log_value(call, now / 1'000'000'000, address, 8);
  }
  if (address == 0) return log_value(call, 0, 0, 0);
  out[0] = now / 1'000'000'000;
  out[1] = now % 1'000'000'000 / (clock_call ? 1 : 1'000);
  return log_value(call, 0, address, 16);
}

long written_bytes(const Call& call) {
  if (call.row->outs[0].kind != OutKind::kVector) return call.logged[2];
  long total = 0;
  const auto* vector = reinterpret_cast<const std::uint64_t*>(call.logged[1]);
  for (long i = 0; i < call.logged[2]; i++) total += static_cast<long>(vector[2 * i + 1]);
  return total;
}

// Calls that need no recording to be answered. False: not one of them.
bool model_known(Call& call, long& result) {
  switch (call.number) {
    case SYS_clock_gettime:
    case SYS_gettimeofday:
    case SYS_time:
      result = model_clock(call);
      return true;
    case SYS_getpid:
      result = log_value(call, process().pid, 0, 0);
      return true;
    case SYS_gettid:
      result = log_value(call, call.me.tid, 0, 0);
      return true;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
      result = log_value(call, sleep_modelled(end_of_sleep(call)) == WaitResult::kInterrupted ? -EINTR : 0, 0, 0);
      return true;
    default:
      break;
  }
  if ((call.row->flags & kWritesStream) != 0 && call.logged[0] >= 0) {
    const auto fd = static_cast<std::uint64_t>(call.logged[0]);
    call.flags |= fd < kMaxFds ? process().fds[fd].std_stream : 0;
    result = log_value(call, written_bytes(call), 0, 0);
    return true;
  }
  return false;
}

// Without a recorded answer these can only succeed or be harmless.
bool model_harmless(Call& call, long& result) {
  switch (call.number) {
    case SYS_close:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_msync:
    case SYS_sched_setscheduler:
    case SYS_mlock:
    case SYS_munlock:
      result = log_value(call, 0, 0, 0);
      return true;
    case SYS_read:
    case SYS_pread64:
      result = log_value(call, 0, 0, 0);
      return true;  // the stream is at its end
    default:
      return false;
  }
}

// Some thread of the recorded run sent such a signal; otherwise it came from outside.
bool sent_by_program(long signal) {
  if (signal <= 0) return true;
  for (const int call : {SYS_kill, SYS_tkill, SYS_tgkill})
    for (std::uint32_t i = heads[call]; i != kNone; i = calls[i].next)
      if (call_at(calls[i]).args[call == SYS_tgkill ? 2 : 1] == static_cast<std::uint64_t>(signal)) return true;
  return false;
}

// Some thread of the recorded run sent a signal.
bool program_sends_signals() {
  return heads[SYS_kill] != kNone || heads[SYS_tkill] != kNone || heads[SYS_tgkill] != kNone;
}

// A wait for descriptors on which nothing comes, as far as the recording knows: it takes its time.
long model_poll(Call& call, Recorded* entry, std::int64_t deadline) {
  if (entry != nullptr) entry->used = true;
  if (deadline > state().virtual_now && sleep_modelled(deadline) == WaitResult::kInterrupted)
    return log_value(call, -EINTR, 0, 0);
  if (entry != nullptr) return answer_from(call, *entry);
  Output outputs[3];
  const std::uint32_t n = report_nothing_ready(call, outputs);
  log_call(call, 0, outputs, n);
  return 0;
}

}  // namespace

void prepare_model() {
  const Channel& feed = arena().feed;
  for (std::uint32_t& head : heads) head = kNone;
  const std::uint64_t begin = feed.tail.load(), end = feed.head.load();
  std::uint64_t count = 0;
  auto is_call = [](const wire::RecordHeader* record) {
    return record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall) &&
           reinterpret_cast<const wire::SyscallRecord*>(record)->number < kNumbers;
  };
  for (std::uint64_t at = begin; at < end; at += record_at(at)->bytes) count += is_call(record_at(at)) ? 1 : 0;
  const long memory = sys(SYS_mmap, 0, (count + 1) * sizeof(Recorded), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (is_error(memory)) stop_run(wire::OutcomeKind::kUnsupported, "not enough memory to index the recording");
  calls = reinterpret_cast<Recorded*>(memory);
  std::uint32_t index = 0;
  std::uint64_t parts = kNoParts;
  for (std::uint64_t at = begin; at < end; at += record_at(at)->bytes) {
    if (is_pseudo_call(*record_at(at), wire::kOutputPart)) {
      if (parts == kNoParts) parts = at;
    } else {
      if (is_call(record_at(at))) add(index++, at, parts == kNoParts ? at : parts);
      parts = kNoParts;
    }
  }
  for (std::uint32_t i = heads[SYS_clock_gettime]; i != kNone; i = calls[i].next) learn_clock(call_at(calls[i]));
}

long model_call(Call& call) {
  long result = 0;
  if (model_known(call, result)) return result;
  Recorded* entry = find(call);
  if (call.number == SYS_rt_sigtimedwait && (entry == nullptr || sent_by_program(call_at(*entry).result))) {
    if (entry != nullptr) entry->used = true;
    return wait_for_signal(call);
  }
  const bool suspends = call.number == SYS_rt_sigsuspend || call.number == SYS_pause;
  if (suspends && (entry == nullptr || program_sends_signals())) {
    if (entry != nullptr) entry->used = true;
    return wait_for_handler(call);
  }
  const std::int64_t deadline = end_of_poll(call);
  if (deadline != kNoDeadline && (entry == nullptr || call_at(*entry).result == 0))
    return model_poll(call, entry, deadline);
  if (entry != nullptr) return answer_from(call, *entry);
  if (model_harmless(call, result)) return result;
  Text text;
  text << "left the recording: it has no answer to system call " << call.row->name << " of thread " << call.me.id;
  end_run(wire::OutcomeKind::kLeftRecording, text.c_str());
}

const wire::MapFileRecord* model_file_mapping(const Call& call) {
  Recorded* entry = find(call);
  for (; entry != nullptr; entry = find(call)) {
    entry->used = true;
    const wire::SyscallRecord& record = call_at(*entry);
    if (record.args[4] != static_cast<std::uint64_t>(call.logged[4]) || is_error(record.result)) continue;
    const wire::RecordHeader* next = record_at(entry->offset + record.header.bytes);
    if (next->kind != static_cast<std::uint16_t>(wire::RecordKind::kMapFile)) continue;
    return reinterpret_cast<const wire::MapFileRecord*>(next);
  }
  return nullptr;
}

const wire::RecordHeader* model_record_after(const wire::RecordHeader& record) {
  return record_at(reinterpret_cast<std::uint64_t>(&record) - kFeedBase + record.bytes);
}

}  // namespace reweave::core
