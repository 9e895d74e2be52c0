// One system call of the target under way, and its record: logged, or compared with what was recorded. Who enters the
// core, and what happens around a call, is in core/dispatch.cc.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/log/log.h"
#include "recorder/core/signals/signals.h"
#include "recorder/core_api.h"

namespace reweave::core {

struct SyscallRow;

// One call under way. `args` may be changed by handlers; `logged` are the target's own.
struct Call {
  KernelContext& context;
  Thread& me;
  const SyscallRow* row;
  long number;
  long args[6];
  long logged[6];
  std::uint32_t flags = 0;  // of the SyscallRecord
  bool completed = false;   // logged, or found in the recording
  bool made = false;        // the kernel was asked
};

// Memory that a call wrote, to be logged.
struct Output {
  std::uint64_t address;
  std::uint64_t bytes;
};
inline constexpr std::uint32_t kMaxOutputs = 1100;  // an iovec's 1024 and the rest

// Only the first `count` arguments of this command mean something: what a variadic wrapper passed for the others is
// what was in registers, and is neither logged nor compared.
inline void use_arguments(Call& call, int count) {
  for (int i = count; i < 6; i++) call.logged[i] = 0;
}

// Logs the completed call, or checks it against the recording, and returns `result`. For calls that are performed
// in every mode: the result must be the recorded one.
long complete(Call& call, long result);
// Logs the completed call with what it wrote. `kept`: where the data of its one output is to be had from, or null.
void log_call(Call& call, long result, const Output* outputs, std::uint32_t count,
              const wire::KeptRange* kept = nullptr);
// Likewise with what it wrote to one place, if it wrote anything. Returns `result`.
inline long log_value(Call& call, long result, std::uint64_t address, std::uint64_t bytes) {
  const Output output = {address, bytes};
  log_call(call, result, &output, address != 0 && bytes != 0 ? 1 : 0);
  return result;
}
// Trace: notes that the call is made.
void trace_call(const KernelContext& context, long number);
// Logs the call, or in a replay finds it in the recording with what it wrote and its result then.
long tell(Call& call, long result, const Output* outputs, std::uint32_t count);
// Logs outputs of a call that has more than one log_call takes, before it is logged itself.
void log_outputs_before(const Output* outputs, std::uint32_t count);
// Whether this very call comes next in the recording, and its result; false unless this is a replay. For what must be
// done in memory before inject() compares it.
bool next_result(const Call& call, long& result);
// In a replay: the call failed when it was recorded. It is not made again, for limits and other processes' use of
// memory are not what they were.
bool has_failed(const Call& call);
// Logs a call over a range of memory that stopped at `reached`, an error or not: what comes before is done. Returns
// `result`.
long log_stopped(Call& call, long result, std::uint64_t reached);
// In a replay: where it stopped. False: it did not, or the recording, an older one, does not say.
bool stopped_at(const Call& call, std::uint64_t& reached);
// Replay: checks the call against the recording, writes the recorded outputs to memory, returns the result.
long inject(Call& call);

}  // namespace reweave::core
