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
  std::uint64_t pc = 0;  // an address inside the current instruction, or inside the call being executed
  std::array<std::optional<std::uint64_t>, kDwarfRegisters> registers;  // empty where unwinding cannot restore it
  std::uint64_t cfa = 0;  // canonical frame address: the caller's stack pointer; 0 if there is no caller
};

class LiveFrames {
 public:
  // `process` must be stopped, and stay so as long as this is used.
  explicit LiveFrames(const TracedProcess& process);
  ~LiveFrames();
  LiveFrames(const LiveFrames&) = delete;
  LiveFrames& operator=(const LiveFrames&) = delete;

  // The frames of a thread, innermost first, without the runtime's. Ends where unwind tables are missing, or after
  // kMostFrames.
  std::vector<LiveFrame> of(pid_t lwp);
  // The module that contains `pc`; null if there is none.
  Dwfl_Module* module_at(std::uint64_t pc);

  static constexpr std::size_t kMostFrames = 256;
  struct Start;

 private:
  class Session;

  const TracedProcess& process_;
  std::unique_ptr<Session> session_;
};

}  // namespace reweave
