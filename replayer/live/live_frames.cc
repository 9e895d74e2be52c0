#include "replayer/live/live_frames.h"

#include <ucontext.h>

#include <cstring>

#include "formats/base/error.h"
#include "formats/elf/debug_session.h"

namespace reweave {

// The state from which the next unwinding starts.
struct LiveFrames::Start {
  const TracedProcess* process;
  Dwarf_Word registers[kDwarfRegisters + 1];  // the last one is the instruction pointer
};

namespace {

const Dwfl_Callbacks kProcessCallbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                          .find_debuginfo = dwfl_standard_find_debuginfo,
                                          .section_address = nullptr,
                                          .debuginfo_path = &no_debug_path};

using Start = LiveFrames::Start;

const Start& start_of(void* argument) { return *static_cast<const Start*>(argument); }

pid_t next_thread(Dwfl*, void*, void**) { return 0; }  // no list is needed: threads are looked up by id

bool get_thread(Dwfl*, pid_t, void* argument, void** thread) {
  *thread = argument;
  return true;
}

bool read_stack_word(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* argument) {
  return start_of(argument).process->read(address, result, sizeof *result);
}

bool give_registers(Dwfl_Thread* thread, void* argument) {
  return dwfl_thread_state_registers(thread, 0, kDwarfRegisters + 1, start_of(argument).registers);
}

constexpr Dwfl_Thread_Callbacks kThreadCallbacks = {.next_thread = next_thread,
                                                    .get_thread = get_thread,
                                                    .memory_read = read_stack_word,
                                                    .set_initial_registers = give_registers,
                                                    .detach = nullptr,
                                                    .thread_detach = nullptr};

// If `frame` is at the instructions by which a signal handler returns, sets `start` to the registers of the interrupted
// code. The runtime's handlers return through code without unwind tables, which debuggers recognise by its bytes.
bool leave_handler(const TracedProcess& process, const LiveFrame& frame, Start& start) {
  constexpr std::uint8_t kReturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};  // mov $15, %rax; syscall
  std::uint8_t code[sizeof kReturn];
  if (!process.read(frame.pc + 1, code, sizeof code) || std::memcmp(code, kReturn, sizeof code) != 0) return false;
  const std::uint64_t context = frame.registers[kDwarfStackPointer].value_or(0);
  gregset_t g;
  if (!process.read(context + offsetof(ucontext_t, uc_mcontext.gregs), &g, sizeof g)) return false;
  constexpr int kOrder[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                            REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  for (std::size_t i = 0; i < std::size(kOrder); i++) start.registers[i] = static_cast<Dwarf_Word>(g[kOrder[i]]);
  return true;
}

// libdwfl's callback.
int take_frame(Dwfl_Frame* state, void* argument) {
  auto& frames = *static_cast<std::vector<LiveFrame>*>(argument);
  LiveFrame frame;
  Dwarf_Addr pc = 0;
  bool is_innermost = false;
  if (!dwfl_frame_pc(state, &pc, &is_innermost)) return DWARF_CB_ABORT;
  frame.pc = is_innermost ? pc : pc - 1;
  for (unsigned i = 0; i < kDwarfRegisters; i++)
    if (Dwarf_Word value = 0; dwfl_frame_reg(state, i, &value) == 0) frame.registers[i] = value;
  if (!frames.empty()) frames.back().cfa = frame.registers[kDwarfStackPointer].value_or(0);
  frames.push_back(frame);
  return frames.size() < LiveFrames::kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

}  // namespace

class LiveFrames::Session {
 public:
  explicit Session(const TracedProcess& process)
      : start_{&process, {}}, dwfl_(dwfl_begin(&kProcessCallbacks), dwfl_end) {
    REQUIRE(dwfl_ != nullptr, "libdw cannot be used: {}", dwfl_errmsg(-1));
    dwfl_report_begin(dwfl_.get());
    dwfl_linux_proc_report(dwfl_.get(), process.pid());
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
    dwfl_attach_state(dwfl_.get(), nullptr, process.pid(), &kThreadCallbacks, &start_);
  }

  std::vector<LiveFrame> frames(pid_t lwp) {
    const user_regs_struct r = start_.process->registers(lwp);
    start_ = {start_.process,
              {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14,
               r.r15, r.rip}};
    std::vector<LiveFrame> all;
    bool more = true;
    while (more && all.size() < kMostFrames) {
      std::vector<LiveFrame> some;
      dwfl_getthread_frames(dwfl_.get(), lwp, take_frame, &some);
      all.insert(all.end(), some.begin(), some.end());
      more = !some.empty() && leave_handler(*start_.process, some.back(), start_);
    }
    return all;
  }

  Dwfl* get() const { return dwfl_.get(); }

 private:
  Start start_;
  std::unique_ptr<Dwfl, void (*)(Dwfl*)> dwfl_;
};

LiveFrames::LiveFrames(const TracedProcess& process)
    : process_(process), session_(std::make_unique<Session>(process)) {}

LiveFrames::~LiveFrames() = default;

std::vector<LiveFrame> LiveFrames::of(pid_t lwp) {
  std::vector<LiveFrame> frames = session_->frames(lwp);
  std::erase_if(frames, [&](const LiveFrame& frame) { return process_.in_runtime(frame.pc); });
  return frames;
}

Dwfl_Module* LiveFrames::module_at(std::uint64_t pc) { return dwfl_addrmodule(session_->get(), pc); }

}  // namespace reweave
