#include "recorder/core/signal_frames.h"

#include "recorder/core/dispatch.h"
#include "recorder/core/fp_state.h"
#include "recorder/core/kernel_signals.h"
#include "recorder/core/patching.h"
#include "recorder/core/protection_keys.h"

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

constexpr std::uint64_t kRedZone = 128;
constexpr std::uint32_t kSsAutodisarm = std::uint32_t{1} << 31;  // sigaltstack(2)

// Where the frame of a handler goes.
std::uint64_t frame_base(const Thread& me, const SignalAction& action, std::uint64_t sp) {
  if ((action.flags & SA_ONSTACK) != 0 && me.altstack_size != 0 && !on_alternate_stack(me, sp))
    return me.altstack_base + me.altstack_size;
  return sp - kRedZone;
}

// Changes `context` so that it enters the target's handler, which will return to what it was.
void push_frame(KernelContext& context, int number, const void* info) {
  Thread& me = self();
  SignalAction& action = signal_action(number);
  auto& registers = context.registers;
  const std::uint64_t fp_bytes = fp_state_bytes(reinterpret_cast<void*>(registers.fp_state));
  const std::uint64_t fp = (frame_base(me, action, registers.rsp) - fp_bytes) & ~std::uint64_t{63};
  const std::uint64_t base = ((fp - sizeof(SignalFrame)) & ~std::uint64_t{15}) - 8;
  auto* frame = reinterpret_cast<SignalFrame*>(base);
  memcpy(&frame->context, &context, sizeof context);
  copy_fp_state(reinterpret_cast<std::byte*>(fp), reinterpret_cast<const std::byte*>(registers.fp_state), fp_bytes);
  auto* fp_state = reinterpret_cast<std::byte*>(registers.fp_state);
  clear_fp_state(fp_state, fp_bytes);
  give_handlers_rights(fp_state, fp_bytes);
  memcpy(frame->info, info, sizeof frame->info);
  frame->return_address = action.restorer;
  frame->context.registers.fp_state = fp_bytes != 0 ? fp : 0;
  memset(frame->context.registers.reserved, 0, sizeof frame->context.registers.reserved);
  if (static_cast<const std::int32_t*>(info)[2] <= 0 ||
      !is_synchronous(number)) {  // left over from earlier faults, ours among them
    auto& saved = frame->context.registers;
    saved.error = saved.trap = saved.fault_address = saved.old_mask = 0;
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
  registers.eflags &= ~std::uint64_t{0x400 | 0x10000 | 0x100};  // DF, RF, TF
  me.signal_mask |= action.mask;
  if ((action.flags & SA_NODEFER) == 0) me.signal_mask |= signal_bit(number);
  if ((action.flags & SA_RESETHAND) != 0) {
    action.handler = 0;
    apply_disposition(number);
  }
}

struct FrameArgs {
  KernelContext& context;
  int number;
  const void* info;
};

long push_frame_body(void* raw) {
  const auto& args = *static_cast<FrameArgs*>(raw);
  push_frame(args.context, args.number, args.info);
  return 0;
}

long read_frame(void* raw) {
  auto& context = *static_cast<KernelContext*>(raw);
  Thread& me = self();
  const auto* from = reinterpret_cast<const KernelContext*>(context.registers.rsp);
  void* our_fp = reinterpret_cast<void*>(context.registers.fp_state);
  const void* their_fp = reinterpret_cast<void*>(from->registers.fp_state);
  const std::uint64_t fp_bytes = fp_state_bytes(our_fp);
  if (their_fp != nullptr && our_fp != nullptr && fp_state_bytes(their_fp) == fp_bytes)
    memcpy(our_fp, their_fp, fp_bytes);
  const std::uint64_t mask = from->mask;
  const KernelStack stack = from->stack;
  memcpy(&context.registers, &from->registers, sizeof context.registers);
  context.registers.fp_state = reinterpret_cast<std::uint64_t>(our_fp);
  me.signal_mask = mask & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
  if (!on_alternate_stack(me, context.registers.rsp)) {
    me.altstack_base = stack.base;
    me.altstack_size = stack.bytes;
    me.altstack_flags = static_cast<std::uint32_t>(stack.flags & ~SS_ONSTACK);
  }
  return 0;
}

}  // namespace

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
  const bool whole = core_guarded(read_frame, &context, &me.call_frame) == 0;
  me.call_frame = 0;
  return whole;
}

bool on_alternate_stack(const Thread& me, std::uint64_t sp) {
  return me.altstack_size != 0 && (me.altstack_flags & kSsAutodisarm) == 0 && sp > me.altstack_base &&
         sp <= me.altstack_base + me.altstack_size;
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
