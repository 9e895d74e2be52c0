// Connects the hooks that folders of the core declare (hooks.h) with functions of higher folders. The tables are
// constant, so the linker turns them into plain calls.
#include "recorder/core/code/counted_loops.h"
#include "recorder/core/explored/awaiting.h"
#include "recorder/core/explored/files/contents.h"
#include "recorder/core/explored/files/own_files.h"
#include "recorder/core/explored/fork_server.h"
#include "recorder/core/explored/model.h"
#include "recorder/core/explored/recorded/calls.h"
#include "recorder/core/explored/tasks/exec.h"
#include "recorder/core/explored/tasks/processes.h"
#include "recorder/core/explored/tasks/signals.h"
#include "recorder/core/explored/tasks/time.h"
#include "recorder/core/explored/tasks/timers.h"
#include "recorder/core/log/hooks.h"
#include "recorder/core/preempt/memory_hash.h"
#include "recorder/core/preempt/recorded_preemption.h"
#include "recorder/core/ptrace/trace_stops.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/hooks.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/signals/hooks.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/tasks/copies.h"

namespace reweave::core {

namespace {

std::uint64_t hash_private_memory() { return hash_memory(HashedMemory::kPrivate).all; }

void stop_in_stepped_handler(KernelContext& context) {
  if (is_stepping(self())) stop_in_handler(context);
}

void note_process_end(std::uint16_t index, std::int32_t wait_status) {
  leave_tracing(index, wait_status);
  end_modelled_process(index, wait_status);
}

bool is_recorded(const Call& call) { return find_recorded(call) != nullptr; }

}  // namespace

constexpr LogHooks log_hooks = {
    .repeat_outside_death = repeat_outside_death,
    .die_outside = die_outside,
    .make_checkpoint = make_checkpoint,
    .hash_private_memory = hash_private_memory,
};

constexpr ScheduleHooks schedule_hooks = {
    .expect_preemption = watch_for_preemption,
    .at_beginning = begin_at_point,
    .process_begun = count_without_debugger,
    .process_ended = note_process_end,
    .outside_acts = outside_acts,
    .waits_for_outside = waits_for_outside,
    .next_timer = next_timer,
    .fire_next_timer = fire_next_timer,
};

constexpr TracerHooks tracer_hooks = {
    .settle_request = settle_request,
    .stop_for_signal = stop_for_signal,
    .stop_in_group = stop_in_group,
    .stop_at_event = stop_at_event,
    .stop_in_stepped_handler = stop_in_stepped_handler,
};

constexpr ExploredAnswers explored = {
    .answer = model_call,
    .mapping = model_mapping,
    .execute = execute_modelled,
    .next_image = next_recorded_image,
    .begin_process = begin_modelled_process,
    .number_of_new = number_modelled,
    .open_process = open_modelled_process,
    .identify = identify_modelled,
    .copy_descriptors = copy_descriptors,
    .begin_image = begin_modelled_image,
    .knows = is_recorded,
    .deadline = modelled_deadline,
    .send_signal = send_modelled,
    .forget_signal = forget_pending_signal,
    .release_signals = release_pending_signals,
};

}  // namespace reweave::core
