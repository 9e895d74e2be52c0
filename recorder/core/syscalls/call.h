// A system call of the target that is in progress, and its record, which is logged or compared with the recorded one.
// The entry into the core and everything around a call is in core/dispatch.cc.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/log/log.h"
#include "recorder/core/signals/signals.h"
#include "recorder/core_api.h"

namespace reweave::core {

struct SyscallRow;

// One call in progress. Handlers may change `args`; `logged` are the target's own arguments.
struct Call {
  KernelContext& context;
  Thread& me;
  const SyscallRow* row;
  long number;
  long args[6];
  long logged[6];
  std::uint32_t flags = 0;  // of the SyscallRecord
  bool completed = false;   // logged, or matched with the recording
  bool made = false;        // the kernel executed it
};

// Memory that a call wrote and that is to be logged.
struct Output {
  std::uint64_t address;
  std::uint64_t bytes;
};
inline constexpr std::uint32_t kMaxOutputs = 1100;  // 1024 for an iovec, and the others

// Marks all arguments after the first `count` as unused: they are neither logged nor compared, because a variadic
// wrapper passes leftover register contents for them.
inline void use_arguments(Call& call, int count) {
  for (int i = count; i < 6; i++) call.logged[i] = 0;
}

// Logs the completed call, or checks it against the recording, and returns `result`. For calls that are performed
// in every mode: the result must be the recorded one.
long complete(Call& call, long result);
// Logs the completed call with its outputs. `kept`: where the data of its only output can be found, or null.
void log_call(Call& call, long result, const Output* outputs, std::uint32_t count,
              const wire::KeptRange* kept = nullptr);
// Logs the completed call with one output, or with none if its address or size is 0. Returns `result`.
inline long log_value(Call& call, long result, std::uint64_t address, std::uint64_t bytes) {
  const Output output = {address, bytes};
  log_call(call, result, &output, address != 0 && bytes != 0 ? 1 : 0);
  return result;
}
// Trace: notes that the call is made.
void trace_call(const KernelContext& context, long number);
// Logs the call with its outputs; in a replay, writes the recorded outputs and returns the recorded result.
long tell(Call& call, long result, const Output* outputs, std::uint32_t count);
// For a call with more outputs than log_call takes: logs these before the call itself.
void log_outputs_before(const Output* outputs, std::uint32_t count);
// Replay: true if the next record is this call; `result` is then the recorded result. False in other modes. For changes
// of memory that must precede inject()'s comparison.
bool next_result(const Call& call, long& result);
// Replay: true if the recorded call failed. The caller then does not make it again, because limits and other processes'
// use of memory are different now.
bool has_failed(const Call& call);
// Logs a call over a range of memory that stopped at `reached`, with or without an error; it took effect below that
// address. Returns `result`.
long log_stopped(Call& call, long result, std::uint64_t reached);
// Replay: stores in `reached` where the recorded call stopped. False if it did not stop early, or if the recording is
// too old to say.
bool stopped_at(const Call& call, std::uint64_t& reached);
// Replay: checks the call against the recording, writes the recorded outputs to memory, returns the result.
long inject(Call& call);

}  // namespace reweave::core
