#include "recorder/core/signals/signal_frames.h"

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/guarded_call.h"
#include "recorder/core/code/patching.h"
#include "recorder/core/signals/fp_state.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/protection_keys.h"

#pragma GCC visibility push(hidden)
extern "C" void core_sigreturn(void*);
#pragma GCC visibility pop

namespace reweave::core {

namespace {

// The signal frame as the kernel lays it out, after the return address.
struct SignalFrame {
  std::uint64_t return_address;
  KernelContext context;
  std::uint8_t info[128];
};

constexpr std::uint16_t kUserCode = 0x33, kUserData = 0x2b;  // selectors of 64-bit code; the program may be in others
constexpr std::uint64_t kTrapFlag = 0x100, kDirectionFlag = 0x400, kResumeFlag = 0x10000;  // of eflags
constexpr std::uint32_t kSsAutodisarm = std::uint32_t{1} << 31;                            // sigaltstack(2)

bool within_alternate_stack(const Thread& me, std::uint64_t sp) {
  return sp > me.altstack_base && sp <= me.altstack_base + me.altstack_size;
}

// Addresses of a handler's frame and of the floating-point state in it (get_sigframe in the kernel's arch/x86).
struct FramePlace {
  std::uint64_t fp, base;
  bool fits;  // false: it would overrun the alternate stack
};

FramePlace place_frame(const Thread& me, const SignalAction& action, std::uint64_t sp, std::uint64_t fp_bytes) {
  const std::uint64_t below = sp - kRedZone;
  const bool enters = (action.flags & SA_ONSTACK) != 0 && me.altstack_size != 0 && !on_alternate_stack(me, below);
  const std::uint64_t top = enters ? me.altstack_base + me.altstack_size : below;
  const std::uint64_t fp = (top - fp_bytes) & ~std::uint64_t{63};
  const std::uint64_t base = ((fp - sizeof(SignalFrame)) & ~std::uint64_t{15}) - 8;
  return {fp, base, !(enters || on_alternate_stack(me, sp)) || within_alternate_stack(me, base)};
}

// Body of push_signal_frame; returns 0 or -EFAULT.
long push_frame(KernelContext& context, int number, const void* info) {
  Thread& me = self();
  SignalAction& action = signal_action(number);
  auto& registers = context.registers;
  const std::uint64_t fp_bytes = fp_state_bytes(reinterpret_cast<void*>(registers.fp_state));
  const auto [fp, base, fits] =
      place_frame(me, action, registers.rsp, shown_fp_bytes(reinterpret_cast<void*>(registers.fp_state)));
  if (!fits) return -EFAULT;
  auto* frame = reinterpret_cast<SignalFrame*>(base);
  memcpy(&frame->context, &context, sizeof context);
  auto* fp_state = reinterpret_cast<std::byte*>(registers.fp_state);
  show_fp_state(reinterpret_cast<std::byte*>(fp), fp_state);
  clear_fp_state(fp_state, fp_bytes);
  give_handlers_rights(fp_state, fp_bytes);
  memcpy(frame->info, info, sizeof frame->info);
  frame->return_address = action.restorer;
  frame->context.registers.fp_state = fp_bytes != 0 ? fp : 0;
  memset(frame->context.registers.reserved, 0, sizeof frame->context.registers.reserved);
  if (static_cast<const std::int32_t*>(info)[2] <= 0 ||
      !is_synchronous(number)) {  // the fault's registers are left over from earlier faults, possibly the core's
    auto& saved = frame->context.registers;
    saved.error = saved.trap = saved.fault_address = saved.old_mask = 0;
    saved.eflags &= ~kResumeFlag;  // set if the core stopped the thread by a fault, unless the processor is emulated
  }
  frame->context.mask = me.has_saved_mask != 0 ? me.saved_mask : me.signal_mask;
  me.has_saved_mask = 0;
  frame->context.stack = {me.altstack_base, static_cast<int>(me.altstack_flags), 0, me.altstack_size};
  if ((me.altstack_flags & kSsAutodisarm) != 0) disable_alternate_stack(me);
  registers.rdi = static_cast<std::uint64_t>(number);
  registers.rsi = reinterpret_cast<std::uint64_t>(frame->info);
  registers.rdx = reinterpret_cast<std::uint64_t>(&frame->context);
  registers.rax = 0;
  registers.rsp = base;
  registers.rip = action.handler;
  registers.cs = kUserCode;
  registers.ss = kUserData;
  registers.eflags &= ~(kDirectionFlag | kResumeFlag | kTrapFlag);
  me.signal_mask |= action.mask;
  if ((action.flags & SA_NODEFER) == 0) me.signal_mask |= signal_bit(number);
  if ((action.flags & SA_RESETHAND) != 0) {
    action.handler = 0;
    apply_disposition(number);
  }
  return 0;
}

struct FrameArgs {
  KernelContext& context;
  int number;
  const void* info;
};

long push_frame_body(void* raw) {
  const auto& args = *static_cast<FrameArgs*>(raw);
  return push_frame(args.context, args.number, args.info);
}

struct FrameCopy {
  const KernelContext* from;
  KernelContext to;
};

long read_frame(void* raw) {
  auto& copy = *static_cast<FrameCopy*>(raw);
  memcpy(&copy.to, copy.from, sizeof copy.to);
  return 0;
}

struct FpCopy {
  std::byte* ours;
  const std::byte* theirs;
};

long read_fp_state(void* raw) {
  const auto& copy = *static_cast<FpCopy*>(raw);
  const bool restored = is_laid_out_otherwise(copy.ours) ? restore_laid_out(copy.ours, copy.theirs, state().recorded_fp)
                                                         : restore_fp_state(copy.ours, copy.theirs);
  return restored ? 0 : -EFAULT;
}

// Gives the interrupted state the floating-point state at `theirs`, or the initial one if that is null.
bool take_fp_state(KernelContext& context, std::uint64_t theirs) {
  auto* ours = reinterpret_cast<std::byte*>(context.registers.fp_state);
  FpCopy copy = {ours, reinterpret_cast<const std::byte*>(theirs)};
  if (ours == nullptr) return true;
  const bool whole = core_guarded(read_fp_state, &copy, &self().call_frame) == 0;
  if (whole && theirs != 0) return true;
  clear_fp_state(ours, fp_state_bytes(ours));
  give_handlers_rights(ours, fp_state_bytes(ours));
  return whole;
}

void take_alternate_stack(const KernelStack& stack, std::uint64_t sp) {
  Thread& me = self();
  if (on_alternate_stack(me, sp)) return;
  constexpr std::uint64_t kLeast = 2048;  // MINSIGSTKSZ
  const auto mode = static_cast<std::uint32_t>(stack.flags) & ~kSsAutodisarm;
  if (mode == SS_DISABLE) return disable_alternate_stack(me);
  // A thread that never had an alternate stack has size 0 in its frame; then a stack set by the handler stays.
  if ((mode != 0 && mode != SS_ONSTACK) || stack.bytes < kLeast) return;
  me.altstack_base = stack.base;
  me.altstack_size = stack.bytes;
  me.altstack_flags = static_cast<std::uint32_t>(stack.flags & ~SS_ONSTACK);
}

}  // namespace

bool is_laid_out_otherwise(const void* fp_state) {
  const FpLayout& recorded = state().recorded_fp;
  return recorded.bytes != 0 && fp_state != nullptr && !(fp_layout_of(fp_state) == recorded);
}

std::uint64_t shown_fp_bytes(const void* fp_state) {
  return is_laid_out_otherwise(fp_state) ? state().recorded_fp.extended_bytes : fp_state_bytes(fp_state);
}

void show_fp_state(std::byte* to, const std::byte* fp_state) {
  if (!is_laid_out_otherwise(fp_state)) return copy_fp_state(to, fp_state, fp_state_bytes(fp_state));
  if (!lay_out_fp_state(to, fp_state, state().recorded_fp))
    stop_run(wire::OutcomeKind::kUnsupported,
             "this processor saves the program's vector registers in a different layout than the recording processor; "
             "replay on a processor like that one");
}

bool push_signal_frame(KernelContext& context, int number, const void* info) {
  FrameArgs args = {context, number, info};
  Thread& me = self();
  const KernelContext before = context;
  const std::uint64_t frame = me.call_frame;
  const bool whole = core_guarded(push_frame_body, &args, &me.call_frame) == 0;
  me.call_frame = frame;
  if (!whole) context = before;
  return whole;
}

bool pop_signal_frame(KernelContext& context) {
  Thread& me = self();
  FrameCopy copy = {reinterpret_cast<const KernelContext*>(context.registers.rsp), {}};
  bool whole = core_guarded(read_frame, &copy, &me.call_frame) == 0;
  if (whole) {
    const std::uint64_t ours = context.registers.fp_state, theirs = copy.to.registers.fp_state;
    context.registers = copy.to.registers;
    context.registers.fp_state = ours;
    me.signal_mask = copy.to.mask & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
    whole = take_fp_state(context, theirs);
    context.registers.rip = where_moved(context.registers.rip);
    if (whole) take_alternate_stack(copy.to.stack, context.registers.rsp);
  }
  me.call_frame = 0;
  return whole;
}

bool on_alternate_stack(const Thread& me, std::uint64_t sp) {
  return me.altstack_size != 0 && (me.altstack_flags & kSsAutodisarm) == 0 && within_alternate_stack(me, sp);
}

void disable_alternate_stack(Thread& me) {
  me.altstack_base = me.altstack_size = 0;
  me.altstack_flags = SS_DISABLE;
}

KernelContext* copy_context(const KernelContext& from, const Thread& thread) {
  const std::uint64_t fp_bytes = fp_state_bytes(reinterpret_cast<void*>(from.registers.fp_state));
  const std::uint64_t fp = (thread.stack_top - fp_bytes) & ~std::uint64_t{63};
  const std::uint64_t base = (fp - sizeof(KernelContext)) & ~std::uint64_t{15};
  auto* to = reinterpret_cast<KernelContext*>(base);
  memcpy(to, &from, sizeof from);
  memcpy(reinterpret_cast<void*>(fp), reinterpret_cast<void*>(from.registers.fp_state), fp_bytes);
  if (fp_bytes != 0) to->registers.fp_state = fp;
  to->registers.rip = landing(to->registers.rip);
  to->stack = core_stack(thread);
  return to;
}

void resume_context(KernelContext* context) {
  core_sigreturn(context);
  __builtin_unreachable();
}

}  // namespace reweave::core
