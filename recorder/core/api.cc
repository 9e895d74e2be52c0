#include "recorder/core/api.h"

#include <sys/syscall.h>

#include "recorder/core/base/debugger_call.h"
#include "recorder/core/base/fatal.h"
#include "recorder/core/base/hash.h"
#include "recorder/core/code/counting_stubs.h"
#include "recorder/core/code/direct_calls.h"
#include "recorder/core/explored/fork_server.h"
#include "recorder/core/explored/tasks/time.h"
#include "recorder/core/log/agree.h"
#include "recorder/core/log/log.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/schedule/departure.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/core/stacks.h"
#include "recorder/core_api.h"

// Entered through entry.S, on the core's stack.
extern "C" {

using namespace reweave;        // NOLINT: the table's types
using namespace reweave::core;  // NOLINT

#pragma GCC visibility push(hidden)
WaitResult api_block(WaitKind, std::uint64_t, const void*, int, std::int32_t);
std::uint32_t api_wake(WaitKind, std::uint64_t, std::uint32_t);
void api_trace_room();
void api_at_main();
void api_memory_error(const char*, std::uint64_t, std::uint64_t);
void api_note_instrumented(const LoadedObject&, const CountedFunctions&, bool);
std::uint64_t api_choose(std::uint64_t);
void api_call_directly(const LoadedObject&);
#pragma GCC visibility pop

void core_api_point() {
  Thread& me = self();
  if (called_by_debugger()) {
    me.countdown = INT32_MAX;
    return;
  }
  counted_point({me.point_object, me.point_pc, static_cast<OpKind>(me.point_operation & 0xffff),
                 static_cast<std::uint8_t>(me.point_operation >> 16), 0, me.point_detail});
}

void core_api_stack(const StackRegisters* registers) { trace_call_stack(*registers, self().point_pc); }

WaitResult core_api_block(WaitKind kind, std::uint64_t address, const void* deadline, int clock,
                          std::int32_t owner_tid) {
  if (called_by_debugger())
    give_up_debugger_call("it waits for another thread, and no other thread runs during the call");
  WaitArgs args = {kind, object_key(address), address};
  args.owner_tid = owner_tid;
  if (deadline != nullptr) {
    const auto* given = static_cast<const std::int64_t*>(deadline);
    args.deadline = given[0] * 1'000'000'000 + given[1];
    if (replaying()) {
      departure_of(self()).limit = {true, clock, args.deadline};
    } else if (modelled()) {
      args.deadline = modelled_deadline(clock, args.deadline);
    } else if (clock != 1 /* CLOCK_MONOTONIC */) {
      std::int64_t theirs[2], ours[2];
      sys(SYS_clock_gettime, clock, theirs);
      sys(SYS_clock_gettime, 1, ours);
      args.deadline += (ours[0] - theirs[0]) * 1'000'000'000 + ours[1] - theirs[1];
    }
  }
  return block(args);
}

std::uint32_t core_api_wake(WaitKind kind, std::uint64_t address, std::uint32_t count) {
  if (called_by_debugger()) return 0;
  const std::uint32_t woken = wake(kind, object_key(address), count);
  if (live() && state().woken_starves != 0) end_slice();
  return woken;
}

void core_api_at_main() { at_main(); }

static_assert(kCoreStackBytes == 128 << 10);  // entry.S
void core_api_trace_room() { reserve_out(64); }

void core_api_memory_error(const char* what, std::uint64_t address, std::uint64_t pc) {
  Text text;
  text << what << " at ";
  text.hex(address) << ", pc ";
  text.hex(pc) << ", thread " << self().id;
  end_run(wire::OutcomeKind::kMemoryError, text.c_str());
}

void core_api_note_instrumented(const LoadedObject& object, const CountedFunctions& functions, bool only_counting) {
  note_instrumented(object, functions, only_counting);
}

std::uint64_t core_api_choose(std::uint64_t count) {
  constexpr char kDoing[] = "chose a value";
  if (called_by_debugger()) return 0;
  const std::uint32_t nth = self().values_chosen++;
  arm();
  std::uint64_t chosen = 0;
  agree<wire::InputRecord>(
      wire::RecordKind::kInput, kDoing,
      [&](wire::InputRecord& record) {
        const std::uint64_t seed = config().policy.inputs;
        if (seed != 0 && count != 0) chosen = mix(mix(seed, self().id + 1), nth + 1) % count;
        record.source = static_cast<std::uint32_t>(wire::InputSource::kChosen);
        record.values[0] = count, record.values[1] = chosen, record.values[2] = seed;
      },
      [&](const wire::InputRecord& record) {
        chosen = record.values[1];
        const bool same =
            record.source == static_cast<std::uint32_t>(wire::InputSource::kChosen) && record.values[0] == count;
        return same ? nullptr : kDoing;
      });
  arm();
  return chosen;
}

void core_api_call_directly(const LoadedObject& shim) { call_directly(shim); }
}

namespace reweave::core {

void publish_api() {
  static constexpr CoreApi kTable = {api_block,   api_wake,         api_trace_room,
                                     api_at_main, api_memory_error, api_note_instrumented,
                                     api_choose,  api_call_directly};
  state().api_table = reinterpret_cast<std::uint64_t>(&kTable);
}

}  // namespace reweave::core
