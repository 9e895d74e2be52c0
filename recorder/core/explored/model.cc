#include "recorder/core/explored/model.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/explored/files/contents.h"
#include "recorder/core/explored/files/outside.h"
#include "recorder/core/explored/files/own_descriptors.h"
#include "recorder/core/explored/files/status.h"
#include "recorder/core/explored/leaving.h"
#include "recorder/core/explored/recorded/inputs.h"
#include "recorder/core/explored/recorded/outputs_of.h"
#include "recorder/core/explored/recorded/processes.h"
#include "recorder/core/explored/tasks/signals.h"
#include "recorder/core/explored/tasks/time.h"
#include "recorder/core/explored/tasks/timers.h"
#include "recorder/core/log/pseudo_calls.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/core/syscalls/explored_handlers.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/files/file_changes.h"
#include "recorder/core/syscalls/files/open_flags.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

void take_file_changes(const RecordedCall& entry) {
  for (std::uint64_t at = entry.parts; at < entry.offset; at += record_at(at)->bytes)
    if (is_pseudo_call(*record_at(at), wire::kFileChanged))
      take_file_change(wire::record_cast<wire::SyscallRecord>(*record_at(at)));
}

// Opens the descriptor that the recorded call opened, under a number that is free in this run.
long open_recorded(const Call& call, const RecordedCall& entry, long fd, bool again) {
  const std::uint32_t file = again ? copy_recorded_file(entry.made) : entry.made;
  if (file == kNothing) leave_recording(call, "it opens more files than the model has room for");
  if (call.row->paths != 0 && (call.row->flags & kChangesFile) != 0)
    open_contents(call, recorded_file(file), open_flags(call));
  const bool closes = (call.row->flags & kOpens) != 0 && (open_flags(call) & O_CLOEXEC) != 0;
  return take_outside_number(call, fd, file, closes);
}

// The same for calls that return two descriptors at `output`, such as pipe.
void open_recorded_pair(const Call& call, const RecordedCall& entry, const Output& output) {
  std::int32_t pair[2];
  if (entry.made == kNothing || output.bytes != sizeof pair) leave_recording(call, "it makes descriptors unknown");
  memcpy(pair, reinterpret_cast<const void*>(output.address), sizeof pair);
  for (std::uint32_t i = 0; i < 2; i++)
    pair[i] = static_cast<std::int32_t>(take_outside_number(call, pair[i], entry.made + i, false));
  memcpy(reinterpret_cast<void*>(output.address), pair, sizeof pair);
}

long answer_from(Call& call, RecordedCall& entry) {
  static Output outputs[kMaxOutputs];
  long result = record_of(entry).result;
  const bool again = entry.used;
  entry.used = true;
  if ((call.row->flags & kNewFd) != 0 && !is_error(result)) result = open_recorded(call, entry, result, again);
  if (!again) take_file_changes(entry);
  const std::uint32_t n = take_outputs(call, entry, outputs);
  if ((call.row->flags & kNewFdPair) != 0 && result == 0 && n == 1) open_recorded_pair(call, entry, outputs[0]);
  log_call(call, result, outputs, n);
  if (call.number == SYS_timer_create && !is_error(result)) note_timer(call);
  return result;
}

// `fraction`: nanoseconds per unit of the second word.
long tell_clock(Call& call, std::int64_t now, long address, std::int64_t fraction) {
  if (address == 0) return complete(call, 0);
  auto* out = reinterpret_cast<std::int64_t*>(address);
  out[0] = now / 1'000'000'000;
  out[1] = now % 1'000'000'000 / fraction;
  return log_value(call, 0, static_cast<std::uint64_t>(address), 16);
}

long vector_bytes(long vector, long count) {
  long total = 0;
  const auto* parts = reinterpret_cast<const std::uint64_t*>(vector);
  for (long i = 0; i < count; i++) total += static_cast<long>(parts[2 * i + 1]);
  return total;
}

long written_bytes(const Call& call) {
  if ((call.row->flags & kHasMessage) != 0) {
    const auto* message = reinterpret_cast<const long*>(call.logged[1]);
    return vector_bytes(message[2], message[3]);
  }
  return call.row->outs[0].kind == OutKind::kVector ? vector_bytes(call.logged[1], call.logged[2]) : call.logged[2];
}

// Writes that lead outside are accepted as a whole.
bool writes_outside(const Call& call) {
  return (call.row->flags & (kWritesStream | kSendsWhole)) != 0 && call.logged[0] >= 0;
}

// An interrupted sleep reports the remaining time, unless the sleep was to end at a given instant.
long model_sleep(Call& call) {
  const bool is_plain = call.row->at.flags < 0;  // nanosleep
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

// Stores a write in the file's known contents. If the recorded write changed a mapped file, applies that change to the
// mappings.
void note_write(const Call& call) {
  const std::uint32_t file = file_of(call.logged[0]);
  if (file == kNothing) return;
  if (reliable_contents(recorded_file(file)) != nullptr) write_contents(call, recorded_file(file));
  RecordedCall* entry = recorded_file(file).changes_mapped ? find_recorded(call) : nullptr;
  if (entry == nullptr || entry->used) return;
  entry->used = true;
  take_file_changes(*entry);
}

// The recorded answer of a write to a file that failed, or was cut short (a limit, a seal). Null: all of it is written.
RecordedCall* refused_write(const Call& call) {
  const std::uint32_t file = file_of(call.logged[0]);
  if (file == kNothing || !recorded_file(file).refuses_writes) return nullptr;
  RecordedCall* entry = find_recorded(call);
  if (entry == nullptr || entry->used) return nullptr;
  entry->used = true;
  return is_error(record_of(*entry).result) ? entry : nullptr;
}

long model_write(Call& call) {
  if (const RecordedCall* refused = refused_write(call)) return complete(call, record_of(*refused).result);
  note_write(call);
  call.flags |= fd_stream(call.logged[0]);
  return complete(call, written_bytes(call));
}

bool resizes_contents(const Call& call) {
  const bool resizes = call.row->at.change == HowChanged::kSize && (call.row->flags & kFirstIsFd) != 0;
  const std::uint32_t file = resizes ? file_of(call.logged[0]) : kNothing;
  return file != kNothing && call.logged[1] >= 0 && reliable_contents(recorded_file(file)) != nullptr;
}

// Answers a call that needs no recorded answer. False: it is another call.
bool model_known(Call& call, long& result) {
  if (answer_at(ExploredStep::kKnown, call, result)) return true;
  if (resizes_contents(call)) {
    note_write(call);
    return result = complete(call, 0), true;
  }
  if (!writes_outside(call)) return false;
  result = model_write(call);
  return true;
}

long model_random(Call& call) {
  constexpr std::uint64_t kMost = 0x1ff'ffff;  // per call (getrandom(2))
  const auto count =
      static_cast<std::uint64_t>(call.logged[1]) < kMost ? static_cast<std::uint64_t>(call.logged[1]) : kMost;
  fill_randomly({reinterpret_cast<std::byte*>(call.logged[0]), count});
  return log_value(call, static_cast<long>(count), static_cast<std::uint64_t>(call.logged[0]), count);
}

// True if a name passed to the call is not in readable memory.
bool lacks_name(const Call& call) {
  for (unsigned paths = call.row->paths; paths != 0; paths &= paths - 1)
    if (bytes_there(static_cast<std::uint64_t>(call.logged[__builtin_ctz(paths)]), 1) == 0) return true;
  return false;
}

// Answers a call without a recorded answer: with EFAULT if a name is not readable, with 0 if its row says that this
// does no harm, or else by its row's function for the last step. False: there is none.
bool model_harmless(Call& call, long& result) {
  if (lacks_name(call)) return result = complete(call, -EFAULT), true;
  if ((call.row->flags & kHarmless) != 0) return result = complete(call, 0), true;
  return answer_at(ExploredStep::kLast, call, result);
}

// True if a thread of the recorded run sent a signal.
bool program_sends_signals() {
  for (const long number : {SYS_kill, SYS_tkill, SYS_tgkill})
    if (first_recorded(number) != nullptr) return true;
  return false;
}

// A wait for descriptors on which nothing arrives, as far as the recording knows: it times out.
long model_poll(Call& call, RecordedCall* entry, std::int64_t deadline) {
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

bool explore_clock_gettime(Call& call, long& result) {
  const std::int64_t now = look_at_clock(call.logged[0]);
  return result = tell_clock(call, now, call.logged[1], 1), true;
}

bool explore_gettimeofday(Call& call, long& result) {
  constexpr std::uint64_t kZoneBytes = 8;
  const auto zone = static_cast<std::uint64_t>(call.logged[1]);
  const std::int64_t now = look_at_clock(CLOCK_REALTIME);
  if (zone == 0) return result = tell_clock(call, now, call.logged[0], 1'000), true;
  const std::int64_t time[2] = {now / 1'000'000'000, now % 1'000'000'000 / 1'000};
  const auto address = static_cast<std::uint64_t>(call.logged[0]);
  if (address != 0) memcpy(reinterpret_cast<void*>(address), time, sizeof time);
  if (bytes_writable(zone, kZoneBytes) != kZoneBytes)
    return result = log_value(call, -EFAULT, address, sizeof time), true;
  memset(reinterpret_cast<void*>(zone), 0, kZoneBytes);
  const Output outputs[2] = {{zone, kZoneBytes}, {address, sizeof time}};
  log_call(call, 0, outputs, address != 0 ? 2 : 1);
  return result = 0, true;
}

bool explore_time(Call& call, long& result) {
  const std::int64_t seconds = look_at_clock(CLOCK_REALTIME) / 1'000'000'000;
  const long address = call.logged[0];
  if (address != 0) *reinterpret_cast<std::int64_t*>(address) = seconds;
  return result = log_value(call, seconds, static_cast<std::uint64_t>(address), 8), true;
}

bool explore_getpid(Call& call, long& result) { return result = complete(call, process().pid), true; }
bool explore_gettid(Call& call, long& result) { return result = complete(call, call.me.tid), true; }
bool explore_sleep(Call& call, long& result) { return result = model_sleep(call), true; }
bool explore_getrandom(Call& call, long& result) { return result = model_random(call), true; }

void prepare_model() {
  index_recorded_calls();
  const Channel& feed = arena().feed;
  const std::uint64_t end = feed.head.load();
  for (std::uint64_t offset = feed.tail.load(); offset < end; offset += record_at(offset)->bytes)
    learn_clock(record_at(offset));
}

long model_call(Call& call) {
  long result = 0;
  if (model_file_call(call, result) || answer_at(ExploredStep::kTimer, call, result) || model_known(call, result))
    return result;
  RecordedCall* entry = find_recorded(call);
  if (call.number == SYS_rt_sigtimedwait && (entry == nullptr || is_sent_in_run(record_of(*entry).result))) {
    if (entry != nullptr) entry->used = true;
    return wait_for_signal(call);
  }
  const bool suspends = (call.row->flags & kSuspends) != 0;
  if (suspends && (entry == nullptr || timers_are_armed() || program_sends_signals())) {
    if (entry != nullptr) entry->used = true;
    return wait_for_handler(call);
  }
  const std::int64_t deadline = end_of_poll(call);
  if (deadline != kNoDeadline && (entry == nullptr || record_of(*entry).result == 0))
    return model_poll(call, entry, deadline);
  if (entry != nullptr && timers_are_armed() && was_interrupted(record_of(*entry).result))
    sleep_modelled(next_timer() + 1);  // interrupted by a timer of the run's own that has yet to expire
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
  const wire::RecordHeader* next = record_after(record.header);
  const bool maps = next->kind == static_cast<std::uint16_t>(wire::RecordKind::kMapFile);
  return maps ? &wire::record_cast<wire::MapFileRecord>(*next) : nullptr;
}

// True if it maps the same part of the same file, even if the descriptor's number differs. A segment (shmat) has no
// descriptor; its ID is compared.
bool maps_the_same(const Call& call, int named, const RecordedCall& entry) {
  const wire::SyscallRecord& record = record_of(entry);
  if (call.row->at.fd < 0) return record.args[named] == static_cast<std::uint64_t>(call.logged[named]);
  const std::uint32_t file = file_of(static_cast<std::int32_t>(call.logged[named]));
  const std::uint32_t contents = file == kNothing ? kNothing : recorded_file(file).contents;
  if (entry.file != file &&
      (entry.file == kNothing || contents == kNothing || recorded_file(entry.file).contents != contents))
    return false;
  return record.args[1] == static_cast<std::uint64_t>(call.logged[1]) &&
         record.args[5] == static_cast<std::uint64_t>(call.logged[5]);
}

// The recorded answers that a mapping may get: those of the thread to which the caller corresponds, any thread's, or
// used ones.
enum class Whose { kOwn, kAnybodys, kUsed };

// True for a mapping that nothing changes. Its recorded answer may be used any number of times.
bool is_mapped_again(const wire::SyscallRecord& record) {
  const wire::MapFileRecord* file = mapping_behind(record);
  return file != nullptr && (file->flags & (kMapStandIn | kMapInlined)) == 0 && (file->flags & MAP_TYPE) == MAP_PRIVATE;
}

bool answers_mapping(const Call& call, int named, const RecordedCall& entry, Whose whose) {
  const wire::SyscallRecord& record = record_of(entry);
  if (whose == Whose::kOwn && entry.thread != recorded_twin(call.me)) return false;
  if (entry.used && (whose != Whose::kUsed || !is_mapped_again(record))) return false;
  if (!maps_the_same(call, named, entry)) return false;
  if (call.row->at.fd >= 0 && ((record.args[3] ^ static_cast<std::uint64_t>(call.logged[3])) & MAP_ANONYMOUS) != 0)
    return false;
  return is_error(record.result) || mapping_behind(record) != nullptr;
}

// A mapping of a file of the system that only this run has opened, and does not write to. Null: it is another.
const wire::MapFileRecord* unrecorded_mapping(const Call& call, int named) {
  const std::uint32_t file = call.row->at.fd < 0 ? kNothing : file_of(static_cast<std::int32_t>(call.logged[named]));
  const Contents* contents = file == kNothing ? nullptr : reliable_contents(recorded_file(file));
  const bool writes_to_file = (call.logged[3] & MAP_TYPE) != MAP_PRIVATE && (call.logged[2] & PROT_WRITE) != 0;
  return contents != nullptr && !writes_to_file ? contents->image : nullptr;
}

}  // namespace

RecordedMapping model_mapping(const Call& call, int named) {
  for (const Whose whose : {Whose::kOwn, Whose::kAnybodys, Whose::kUsed})
    for (RecordedCall* entry = first_recorded(call.number); entry != nullptr; entry = next_recorded(*entry)) {
      if (!answers_mapping(call, named, *entry, whose)) continue;
      entry->used = true;
      const wire::SyscallRecord& record = record_of(*entry);
      if (is_error(record.result)) return {record.result, nullptr};
      return {0, mapping_behind(record)};
    }
  return {0, unrecorded_mapping(call, named)};
}

}  // namespace reweave::core
