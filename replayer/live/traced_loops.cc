// TracedProcess's loops that count without stopping.
//
// The runtime counts an instruction of such a loop. For a debugger it puts a trap there, so that the code looks as it
// was compiled and can be stepped. A trap stops the traced process in each iteration, which takes a thousand times as
// long as the jump that counts without a debugger. So while the user waits for the end of a motion, a loop gets its
// jump when its trap is first hit.
#include <cstddef>
#include <cstring>
#include <iterator>

#include "recorder/counted_loop.h"
#include "replayer/live/traced_process.h"

namespace reweave {

namespace {

constexpr std::uint8_t kJump = 0xe9, kHalt = 0xf4;
constexpr std::uint64_t kJumpBytes = 5;

}  // namespace

// True if the loop that is counted at `start` has its jump now. A loop with a breakpoint among the instructions that
// the jump would cover keeps its trap.
bool TracedProcess::make_quick(std::uint64_t start) {
  const auto table = symbols_.find("core_counted_loops"), length = symbols_.find("core_counted_loop_count");
  if (table == symbols_.end() || length == symbols_.end()) return false;
  const auto count = read_word<std::uint32_t>(pid_, length->second);
  for (std::uint32_t i = 0; i < count && i < kMaxLoops; i++) {
    const std::uint64_t entry = table->second + i * sizeof(CountedLoop);
    CountedLoop loop;
    if (!read_memory(pid_, entry, &loop, sizeof loop)) return false;
    if (loop.start != start || loop.has_trap == 0 || read_word<std::uint8_t>(pid_, start) != kHalt) continue;
    const auto inside = inserted_.lower_bound(start);
    if (inside != inserted_.end() && inside->first < start + loop.covers) return false;
    QuickLoop quick = {entry, start, loop.covers, loop.stub, {loop.original, loop.original + loop.covers}, {}};
    for (std::uint32_t k = 0; k < loop.count; k++) quick.moved[loop.moved[k].to] = loop.moved[k].from;
    std::vector<std::uint8_t> code = quick.original;
    const auto distance = static_cast<std::int32_t>(loop.stub - (start + kJumpBytes));
    code[0] = kJump;
    std::memcpy(&code[1], &distance, sizeof distance);
    const std::uint8_t no_trap = 0;
    write_memory(pid_, start, code.data(), code.size());
    write_memory(pid_, entry + offsetof(CountedLoop, has_trap), &no_trap, 1);
    quick_[start] = std::move(quick);
    return true;
  }
  return false;
}

void TracedProcess::put_trap(const QuickLoop& loop) {
  std::vector<std::uint8_t> code = loop.original;
  code[0] = kHalt;
  const std::uint8_t has_trap = 1;
  write_memory(pid_, loop.start, code.data(), code.size());
  write_memory(pid_, loop.entry + offsetof(CountedLoop, has_trap), &has_trap, 1);
}

// Puts the trap back into the loop whose jump covers the address, if there is one.
void TracedProcess::make_slow(std::uint64_t address) {
  const auto after = quick_.upper_bound(address);
  if (after == quick_.begin()) return;
  const auto loop = std::prev(after);
  if (address >= loop->second.start + loop->second.covers) return;
  put_trap(loop->second);
  quick_.erase(loop);
}

void TracedProcess::put_traps() {
  for (const auto& [start, loop] : quick_) put_trap(loop);
  quick_.clear();
}

void TracedProcess::show_loops() {
  quick_loops = false;
  if (!ended_) put_traps();
}

const TracedProcess::QuickLoop* TracedProcess::stub_at(std::uint64_t address) const {
  for (const auto& [start, loop] : quick_)
    if (address >= loop.stub && address < loop.stub + kLoopStubBytes) return &loop;
  return nullptr;
}

// Moves a stopped thread from a stub to the same place in the program. If it has counted, but not yet executed the
// instruction that is counted, the trap there will not count it again.
void TracedProcess::leave_stub(pid_t lwp) {
  constexpr int kMostSteps = 16;  // to the end of the part that counts
  for (int i = 0; i < kMostSteps && lwps_.count(lwp) != 0; i++) {
    user_regs_struct values = registers(lwp);
    const QuickLoop* loop = stub_at(values.rip);
    if (loop == nullptr) return;
    const auto moved = loop->moved.find(values.rip);
    const std::uint64_t behind = loop->start + loop->covers;
    const bool is_last =
        read_word<std::uint8_t>(pid_, values.rip) == kJump &&
        values.rip + kJumpBytes + static_cast<std::uint64_t>(read_word<std::int32_t>(pid_, values.rip + 1)) == behind;
    if (moved == loop->moved.end() && !is_last) {
      const int status = step_alone(lwp);
      if (has_stepped(lwp, status)) continue;
      lwps_.at(lwp).status = status;
      return;
    }
    values.rip = is_last ? behind : moved->second;
    if (values.rip == loop->start) core_.note_counted(lwp, loop->start);
    set_registers(lwp, values);
    make_slow(loop->start);
    return;
  }
}

}  // namespace reweave
