#include "formats/code/value_flow.h"

#include <algorithm>
#include <map>
#include <set>

namespace reweave {
namespace {

using InstructionKind = Instruction::Kind;
using Access = InstrumentedFunction::Access;

// The most instructions to follow for one read.
constexpr std::uint64_t kMaxReadSteps = 100'000;
constexpr std::size_t kMaxSlots = 256;

constexpr RegisterSet vectors(unsigned from, unsigned to) {
  RegisterSet set = 0;
  for (unsigned i = from; i < to; ++i) set |= bit(kFirstVector + i);
  return set;
}
// The calling convention: the registers of arguments and results, and those that a function preserves.
constexpr RegisterSet kArguments =
    bit(kRdi) | bit(kRsi) | bit(kRdx) | bit(kRcx) | bit(8) | bit(9) | bit(10) | vectors(0, 8);
constexpr RegisterSet kResults = bit(kRax) | bit(kRdx) | vectors(0, 2);
constexpr RegisterSet kKept = bit(kRbx) | bit(kRsp) | bit(kRbp) | bit(12) | bit(13) | bit(14) | bit(15);
// Registers in which a callee may expect an address that it jumps to.
constexpr RegisterSet kTargets = bit(kRax) | bit(11);

// The registers and bytes of the frame that may hold a value that depends on the read.
struct Holders {
  RegisterSet registers = 0;
  std::set<std::int64_t> slots;

  bool none() const { return registers == 0 && slots.empty(); }
  bool holds(std::int64_t offset, std::uint8_t bytes) const {
    const auto first = slots.lower_bound(offset);
    return first != slots.end() && *first < offset + bytes;
  }
  // Returns true if this added something.
  bool add(const Holders& other) {
    const RegisterSet before = registers;
    const std::size_t slots_before = slots.size();
    registers |= other.registers;
    slots.insert(other.slots.begin(), other.slots.end());
    return registers != before || slots.size() != slots_before;
  }
};

class Walk {
 public:
  Walk(const InstrumentedFunction& function, std::size_t call) : function_(function), call_(call) {}

  ReadEffect run_read() {
    const auto& code = function_.instructions();
    // The load follows its announcement in the same block; in another block it could not be recognised for certain.
    for (std::size_t i = call_ + 1; i < code.size() && !function_.starts_block(i); ++i) {
      if (function_.access(i).read_by == call_) load_ = i;
    }
    if (load_ == InstrumentedFunction::kNowhere) return {};
    return run({});
  }

  ReadEffect run_update() {
    ReadEffect effect = run({.registers = bit(kRax), .slots = {}});
    effect.decides |= !effect.stores.empty();
    return effect;
  }

 private:
  // Follows what the registers and the frame hold after the call.
  ReadEffect run(const Holders& holders) {
    ReadEffect effect;
    from(call_ + 1, holders);
    while (!todo_.empty() && !decides_) {
      const std::size_t block = *todo_.begin();
      todo_.erase(todo_.begin());
      from(block, at_[block]);
    }
    effect.work = steps_;
    effect.decides = decides_;
    if (!decides_) effect.stores.assign(stores_.begin(), stores_.end());
    return effect;
  }

  void decide() { decides_ = true; }

  // Executes from an instruction to the end of its block.
  void from(std::size_t i, Holders now) {
    const auto& code = function_.instructions();
    for (; !decides_; ++i) {
      if (++steps_ > kMaxReadSteps || now.slots.size() > kMaxSlots) return decide();
      const Instruction& instruction = code[i];
      switch (instruction.kind) {
        case InstructionKind::kPlain:
          plain(i, now);
          break;
        case InstructionKind::kCall:
          call(i, now);
          break;
        case InstructionKind::kSystem:
          if (!now.none()) return decide();
          break;
        case InstructionKind::kReturn:
          if ((now.registers & kResults) != 0) decide();
          return;
        case InstructionKind::kStop:
          return;
        case InstructionKind::kJump:
        case InstructionKind::kBranch:
          return jump(i, now);
        case InstructionKind::kIndirectJump:
          return decide();
      }
      if (i + 1 == code.size()) {  // the last call does not return, or the code after the function runs next
        if (!now.none()) decide();
        return;
      }
      if (function_.starts_block(i + 1)) return enter(i + 1, now);
    }
  }

  void enter(std::size_t block, const Holders& now) {
    const auto [it, fresh] = at_.try_emplace(block);
    if (it->second.add(now) || fresh) todo_.insert(block);
  }

  void jump(std::size_t i, const Holders& now) {
    const Instruction& instruction = function_.instructions()[i];
    if ((instruction.reads & now.registers) != 0) return decide();
    const std::size_t target = function_.at(instruction.target);
    if (target != InstrumentedFunction::kNowhere) {
      enter(target, now);
    } else if (!function_.destination(i).of_instrumentation() && !now.none()) {
      return decide();  // to another part of this function, or to another function
    }
    if (instruction.kind != InstructionKind::kBranch) return;
    if (i + 1 < function_.instructions().size()) return enter(i + 1, now);
    if (!now.none()) decide();
  }

  void call(std::size_t i, Holders& now) {
    const Callee& callee = function_.callee(i);
    const Instruction& instruction = function_.instructions()[i];
    if (((instruction.reads | instruction.address_of) & now.registers & ~bit(kRsp)) != 0) return decide();
    if (callee.of_instrumentation()) {
      if ((now.registers & bit(kRdi)) != 0 && callee.announces()) return decide();
      now.registers &= kKept;
      return;
    }
    const RegisterSet seen = kArguments | (callee.named && !callee.jumps_on ? 0 : kTargets);
    if ((now.registers & seen) != 0) return decide();
    // The callee may have a pointer to the value: compilers do not announce stores to a variable whose address a callee
    // gets but does not keep.
    if (!now.slots.empty() && (function_.frame_taken() || function_.passes_on_stack(i))) return decide();
    // A function of the same file may preserve more registers than it must, and its callers may rely on that.
    if (callee.outside) now.registers &= kKept;
    // If the callee throws, code that is not followed continues with the values in the frame and in registers that
    // functions preserve.
    if (function_.unwinds() && ((now.registers & kKept) != 0 || !now.slots.empty())) decide();
  }

  void plain(std::size_t i, Holders& now) {
    const Instruction& instruction = function_.instructions()[i];
    if ((instruction.address_of & now.registers) != 0) return decide();
    const bool depends = (instruction.reads & now.registers) != 0 || (instruction.loads && load_depends(i, now));
    if (depends && (!instruction.data_flows || (instruction.writes & bit(kOtherRegister)) != 0)) return decide();
    if (instruction.stores) store(i, depends, now);
    if (depends) {
      now.registers |= instruction.writes;
    } else {
      now.registers &= ~instruction.replaces;
    }
    // If the stack pointer depends on the value, so do addresses.
    if ((now.registers & bit(kRsp)) != 0) decide();
  }

  bool load_depends(std::size_t i, const Holders& now) const {
    const Access& access = function_.access(i);
    if (access.read_by == call_) return true;
    if (access.constant) return false;
    const bool announced = access.read_by != InstrumentedFunction::kNowhere;
    if (access.where == Access::Where::kInFrame)
      return now.holds(access.offset, function_.instructions()[i].bytes) || (!announced && is_of_variable(i));
    if (access.where == Access::Where::kElsewhere && function_.frame_taken() && !now.slots.empty()) return true;
    // A load that is neither announced nor from the frame may read the same variable again.
    return !announced;
  }

  // True if the variable that was read is in the frame and the access overlaps it.
  bool is_of_variable(std::size_t i) const {
    // The variable of an atomic update is in the frame only if a pointer to it was passed.
    if (load_ == InstrumentedFunction::kNowhere) return function_.frame_taken();
    const Access &access = function_.access(i), &read = function_.access(load_);
    return read.where == Access::Where::kInFrame &&
           access.offset < read.offset + function_.instructions()[load_].bytes &&
           read.offset < access.offset + function_.instructions()[i].bytes;
  }

  void store(std::size_t i, bool depends, Holders& now) {
    const Access& access = function_.access(i);
    const Instruction& instruction = function_.instructions()[i];
    const bool in_frame = access.where == Access::Where::kInFrame;
    if (!depends) {
      // Other instructions may leave some of the bytes unchanged.
      if (!in_frame || !instruction.data_flows) return;
      now.slots.erase(now.slots.lower_bound(access.offset), now.slots.lower_bound(access.offset + instruction.bytes));
      return;
    }
    const bool announced = access.written_by != InstrumentedFunction::kNowhere;
    // The return address and the memory above it are not the function's own.
    const bool own = in_frame && access.offset + instruction.bytes <= 0;
    if (announced) stores_.insert(function_.instructions()[access.written_by].end());
    if (own) {
      for (std::int64_t byte = 0; byte < instruction.bytes; ++byte) now.slots.insert(access.offset + byte);
    }
    const bool may_be_frame = access.where == Access::Where::kElsewhere && function_.frame_taken();
    if (!(own || announced) || may_be_frame) decide();
  }

  const InstrumentedFunction& function_;
  std::size_t call_;
  std::size_t load_ = InstrumentedFunction::kNowhere;  // the load that the call announced
  std::map<std::size_t, Holders> at_;                  // at the start of blocks
  std::set<std::size_t> todo_;
  std::set<std::uint64_t> stores_;
  std::uint64_t steps_ = 0;
  bool decides_ = false;
};

// The call returning to `place`, if the code after it can be followed; else kNowhere.
std::size_t followed_call(const InstrumentedFunction& function, std::uint64_t place) {
  if (!function.understood()) return InstrumentedFunction::kNowhere;
  const std::size_t call = function.call_before(place);
  return call == InstrumentedFunction::kNowhere || function.reached(call) ? call : InstrumentedFunction::kNowhere;
}

}  // namespace

ReadEffect effect_of_read(const InstrumentedFunction& function, std::uint64_t place) {
  const std::size_t call = followed_call(function, place);
  if (call == InstrumentedFunction::kNowhere || function.callee(call).kind != Callee::Kind::kAnnouncesRead) return {};
  return Walk(function, call).run_read();
}

ReadEffect effect_of_update(const InstrumentedFunction& function, std::uint64_t place) {
  const std::size_t call = followed_call(function, place);
  if (call == InstrumentedFunction::kNowhere || !function.callee(call).updates) return {};
  return Walk(function, call).run_update();
}

}  // namespace reweave
