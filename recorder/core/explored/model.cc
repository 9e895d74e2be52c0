#include "recorder/core/explored/model.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/explored/modelled_files.h"
#include "recorder/core/explored/modelled_signals.h"
#include "recorder/core/explored/modelled_status.h"
#include "recorder/core/explored/modelled_time.h"
#include "recorder/core/explored/modelled_timers.h"
#include "recorder/core/explored/outside.h"
#include "recorder/core/explored/recorded_calls.h"
#include "recorder/core/log/checksum.h"
#include "recorder/core/log/pseudo_calls.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/files/file_changes.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

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

void take_file_changes(const RecordedCall& entry) {
  for (std::uint64_t at = entry.parts; at < entry.offset; at += record_at(at)->bytes)
    if (is_pseudo_call(*record_at(at), wire::kFileChanged))
      take_file_change(reinterpret_cast<const wire::SyscallRecord&>(*record_at(at)));
}

long answer_from(Call& call, RecordedCall& entry) {
  static Output outputs[kMaxOutputs];
  const wire::SyscallRecord& record = record_of(entry);
  entry.used = true;
  if ((call.row->flags & kNewFd) != 0 && !is_error(record.result)) {
    note_outside_descriptor(record.result);
    note_opened(entry, record.result);
    note_outside_opened(record.result, entry.outputs_before);
  }
  take_file_changes(entry);
  std::uint32_t n = 0;
  for (std::uint64_t at = entry.parts; at <= entry.offset; at += record_at(at)->bytes)
    if (!is_pseudo_call(*record_at(at), wire::kFileChanged)) n = take_outputs(call, record, record_at(at), outputs, n);
  log_call(call, record.result, outputs, n);
  if (call.number == SYS_timer_create && !is_error(record.result)) note_timer(call);
  return record.result;
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
  if (address == 0) return complete(call, 0);
  out[0] = now / 1'000'000'000;
  out[1] = now % 1'000'000'000 / (clock_call ? 1 : 1'000);
  return log_value(call, 0, address, 16);
}

long vector_bytes(long vector, long count) {
  long total = 0;
  const auto* parts = reinterpret_cast<const std::uint64_t*>(vector);
  for (long i = 0; i < count; i++) total += static_cast<long>(parts[2 * i + 1]);
  return total;
}

long written_bytes(const Call& call) {
  if (call.number == SYS_sendmsg) {
    const auto* message = reinterpret_cast<const long*>(call.logged[1]);
    return vector_bytes(message[2], message[3]);
  }
  return call.row->outs[0].kind == OutKind::kVector ? vector_bytes(call.logged[1], call.logged[2]) : call.logged[2];
}

// What goes outside is taken as a whole.
bool writes_outside(const Call& call) {
  const bool sends = call.number == SYS_sendto || call.number == SYS_sendmsg;
  return ((call.row->flags & kWritesStream) != 0 || sends) && call.logged[0] >= 0;
}

// An interrupted sleep tells how much of it was left, unless it was to end at an instant.
long model_sleep(Call& call) {
  const bool is_plain = call.number == SYS_nanosleep;
  const std::int64_t end = end_of_sleep(call);
  if (sleep_modelled(end) != WaitResult::kInterrupted) return complete(call, 0);
  const auto address = static_cast<std::uint64_t>(call.logged[is_plain ? 1 : 3]);
  if (address == 0 || (!is_plain && (call.logged[1] & TIMER_ABSTIME) != 0)) return complete(call, -EINTR);
  const std::int64_t left = end - state().virtual_now;
  const std::int64_t words[2] = {left / 1'000'000'000, left % 1'000'000'000};
  if (bytes_writable(address, sizeof words) != sizeof words) return complete(call, -EFAULT);
  memcpy(reinterpret_cast<void*>(address), words, sizeof words);
  return log_value(call, -EINTR, address, sizeof words);
}

// What the recorded write to a mapped file did to it shows in the mappings.
long model_write(Call& call) {
  RecordedCall* entry = writes_mapped_file(call.logged[0]) ? find_recorded(call) : nullptr;
  if (entry != nullptr) {
    entry->used = true;
    take_file_changes(*entry);
  }
  call.flags |= fd_stream(call.logged[0]);
  return complete(call, written_bytes(call));
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
      result = complete(call, process().pid);
      return true;
    case SYS_gettid:
      result = complete(call, call.me.tid);
      return true;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
      result = model_sleep(call);
      return true;
    default:
      break;
  }
  if (!writes_outside(call)) return false;
  result = model_write(call);
  return true;
}

// More than the recorded run asked for; the same in each run, and never the same again.
long model_random(Call& call) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(call.logged[0]);
  const auto count =
      static_cast<std::uint64_t>(call.logged[1]) < 256 ? static_cast<std::uint64_t>(call.logged[1]) : 256;
  std::uint64_t value = mix(config().seed, state().step);
  for (std::uint64_t i = 0; i < count; i++) {
    if (i % 8 == 0) value = mix(value, i);
    bytes[i] = static_cast<std::uint8_t>(value >> i % 8 * 8);
  }
  return log_value(call, static_cast<long>(count), static_cast<std::uint64_t>(call.logged[0]), count);
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
      result = complete(call, 0);
      return true;
    case SYS_getrandom:
      result = model_random(call);
      return true;
    case SYS_read:
    case SYS_pread64:
      result = complete(call, 0);
      return true;  // the stream is at its end
    default:
      return false;
  }
}

// Some thread of the recorded run sent a signal.
bool program_sends_signals() {
  for (const long number : {SYS_kill, SYS_tkill, SYS_tgkill})
    if (first_recorded(number) != nullptr) return true;
  return false;
}

// A wait for descriptors on which nothing comes, as far as the recording knows: it takes its time.
long model_poll(Call& call, RecordedCall* entry, std::int64_t deadline) {
  if (entry != nullptr) entry->used = true;
  if (deadline > state().virtual_now && sleep_modelled(deadline) == WaitResult::kInterrupted)
    return complete(call, -EINTR);
  if (entry != nullptr) return answer_from(call, *entry);
  Output outputs[3];
  const std::uint32_t n = report_nothing_ready(call, outputs);
  log_call(call, 0, outputs, n);
  return 0;
}

bool is_sent_in_run(long signal) { return is_sent_by_program(signal) || timers_send(signal); }
bool was_interrupted(long result) { return result == -EINTR || result == -512 /* ERESTARTSYS */; }

}  // namespace

void prepare_model() {
  index_recorded_calls();
  const Channel& feed = arena().feed;
  const std::uint64_t end = feed.head.load();
  for (std::uint64_t offset = feed.tail.load(); offset < end; offset += record_at(offset)->bytes)
    learn_clock(record_at(offset));
}

long model_call(Call& call) {
  long result = 0;
  if (model_file_call(call, result) || model_timer_call(call, result) || model_known(call, result)) return result;
  RecordedCall* entry = find_recorded(call);
  if (call.number == SYS_rt_sigtimedwait && (entry == nullptr || is_sent_in_run(record_of(*entry).result))) {
    if (entry != nullptr) entry->used = true;
    return wait_for_signal(call);
  }
  const bool suspends = call.number == SYS_rt_sigsuspend || call.number == SYS_pause;
  if (suspends && (entry == nullptr || timers_are_armed() || program_sends_signals())) {
    if (entry != nullptr) entry->used = true;
    return wait_for_handler(call);
  }
  const std::int64_t deadline = end_of_poll(call);
  if (deadline != kNoDeadline && (entry == nullptr || record_of(*entry).result == 0))
    return model_poll(call, entry, deadline);
  if (entry != nullptr && timers_are_armed() && was_interrupted(record_of(*entry).result))
    sleep_modelled(next_timer() + 1);  // by what is still to come
  if (entry != nullptr) return answer_from(call, *entry);
  if (model_harmless(call, result) || model_status(call, result)) return result;
  Text text;
  text << "left the recording: it has no answer to system call " << call.row->name;
  if ((call.row->flags & kFirstIsFd) != 0) text << " on descriptor " << static_cast<int>(call.logged[0]);
  text << " of thread " << call.me.id;
  end_run(wire::OutcomeKind::kLeftRecording, text.c_str());
}

namespace {

const wire::MapFileRecord* mapping_behind(const wire::SyscallRecord& record) {
  const wire::RecordHeader* next = model_record_after(record.header);
  const bool maps = next->kind == static_cast<std::uint16_t>(wire::RecordKind::kMapFile);
  return maps ? reinterpret_cast<const wire::MapFileRecord*>(next) : nullptr;
}

bool answers_mapping(const Call& call, int named, const RecordedCall& entry, bool exact) {
  const wire::SyscallRecord& record = record_of(entry);
  if (entry.used || (exact && entry.thread != call.me.id)) return false;
  if (record.args[named] != static_cast<std::uint64_t>(call.logged[named])) return false;
  if (call.number == SYS_mmap && ((record.args[3] ^ static_cast<std::uint64_t>(call.logged[3])) & MAP_ANONYMOUS) != 0)
    return false;
  return is_error(record.result) || mapping_behind(record) != nullptr;
}

}  // namespace

RecordedMapping model_mapping(const Call& call, int named) {
  for (const bool exact : {true, false})
    for (RecordedCall* entry = first_recorded(call.number); entry != nullptr; entry = next_recorded(*entry)) {
      if (!answers_mapping(call, named, *entry, exact)) continue;
      entry->used = true;
      const wire::SyscallRecord& record = record_of(*entry);
      if (is_error(record.result)) return {record.result, nullptr};
      return {0, mapping_behind(record)};
    }
  return {0, nullptr};
}

long model_exec(Call& call) {
  RecordedCall* entry = find_recorded(call);
  if (entry != nullptr && is_error(record_of(*entry).result)) return answer_from(call, *entry);
  end_run(wire::OutcomeKind::kLeftRecording, "left the recording: explored runs cannot execute programs yet");
}

const wire::RecordHeader* model_record_after(const wire::RecordHeader& record) {
  return record_at(reinterpret_cast<std::uint64_t>(&record) - kFeedBase + record.bytes);
}

}  // namespace reweave::core
