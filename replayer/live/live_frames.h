// The call stacks of a stopped process, unwound by its unwind tables, with the registers that each frame had.
#pragma once

#include <elfutils/libdwfl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "replayer/live/traced_process.h"

namespace reweave {

// Numbered as in DWARF (psABI for x86-64, figure 3.36).
inline constexpr unsigned kDwarfRegisters = 16;
inline constexpr unsigned kDwarfStackPointer = 7;

struct LiveFrame {
  std::uint64_t pc = 0;  // an address within the instruction that is executed, or within the call that is
  std::array<std::optional<std::uint64_t>, kDwarfRegisters> registers;  // those that unwinding preserves
  std::uint64_t cfa = 0;  // canonical frame address: the caller's stack pointer; 0 if there is no caller
};

class LiveFrames {
 public:
  // `process` is to be stopped, and to stay so as long as this is used.
  explicit LiveFrames(const TracedProcess& process);
  ~LiveFrames();
  LiveFrames(const LiveFrames&) = delete;
  LiveFrames& operator=(const LiveFrames&) = delete;

  // Innermost first, without those of the runtime; as far as there are unwind tables, and at most kMostFrames.
  std::vector<LiveFrame> of(pid_t lwp);
  // The module there; null if there is none.
  Dwfl_Module* module_at(std::uint64_t pc);

  static constexpr std::size_t kMostFrames = 256;
  struct Start;

 private:
  class Session;

  const TracedProcess& process_;
  std::unique_ptr<Session> session_;
};

}  // namespace reweave
