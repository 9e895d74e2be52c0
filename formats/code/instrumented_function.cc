#include "formats/code/instrumented_function.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace reweave {
namespace {

constexpr std::size_t kMaxInstructions = 20'000;
// The most instructions to follow in a function, whose blocks may be entered several times.
constexpr std::uint64_t kMaxFunctionSteps = 400'000;
constexpr std::size_t kMaxAnnounced = 64;
constexpr std::int64_t kWord = 8;

using InstructionKind = Instruction::Kind;

bool takes_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// True for the thread's own address and its stack canary, which are at fixed offsets in the thread's control block (fs)
// and never change.
bool is_of_thread(const MemoryPlace& place) {
  constexpr std::int64_t kOwnAddress = 0, kCanary = 0x28;
  return place.other_segment && place.base == kNoRegister && place.index == kNoRegister &&
         (place.displacement == kOwnAddress || place.displacement == kCanary);
}

// True for "32_fetch_add" and the like, with a result that fits into one register.
bool is_update(std::string_view name) {
  int bits = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), bits);
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  return error == std::errc() && bits <= 64 && takes_prefix(name, "_fetch_");
}

std::int64_t word_of(std::int64_t offset) { return offset >= 0 ? offset / kWord : -((-offset + kWord - 1) / kWord); }

}  // namespace

Callee callee_named(std::string_view name) {
  Callee result;
  result.named = !name.empty();
  result.jumps_on = name.starts_with("__x86_") || name.starts_with("__llvm_");
  constexpr std::string_view kTwice[] = {"setjmp",  "_setjmp",    "sigsetjmp",          "__sigsetjmp", "vfork",
                                         "savectx", "getcontext", "__sigsetjmp_cancel", "__vfork"};
  result.returns_twice = std::find(std::begin(kTwice), std::end(kTwice), name) != std::end(kTwice);
  std::string_view rest = name;
  if (!takes_prefix(rest, "__tsan_")) return result;
  if (takes_prefix(rest, "atomic")) {
    result.updates = is_update(rest);
    return result;
  }
  if (rest == "func_entry" || rest == "func_exit") result.kind = Callee::Kind::kMarksFunction;
  if (!takes_prefix(rest, "unaligned_")) takes_prefix(rest, "volatile_");
  Callee::Kind kind = Callee::Kind::kOther;
  if (takes_prefix(rest, "read_write")) {
    kind = Callee::Kind::kAnnouncesBoth;
  } else if (takes_prefix(rest, "read")) {
    kind = Callee::Kind::kAnnouncesRead;
  } else if (takes_prefix(rest, "write")) {
    kind = Callee::Kind::kAnnouncesWrite;
  }
  std::uint8_t bytes = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), bytes);
  if (kind == Callee::Kind::kOther || error != std::errc() || end != rest.data() + rest.size() || bytes > 16)
    return result;
  result.kind = kind;
  result.bytes = bytes;
  return result;
}

InstrumentedFunction::InstrumentedFunction(const ElfCode& elf, const ElfCode::Function& function)
    : instructions_(decode_all(function.code, function.start, kMaxInstructions)), unwinds_(elf.unwinds()) {
  if (instructions_.empty()) return;
  accesses_.resize(instructions_.size());
  reached_.resize(instructions_.size(), false);
  name_calls(elf);
  for (const Instruction& i : instructions_) {
    // The destinations of a jump table are not known.
    if (i.kind == InstructionKind::kIndirectJump) return;
    const bool inside = i.target >= function.start && i.target - function.start < function.code.size();
    if (inside && at(i.target) == kNowhere) return;  // into the middle of an instruction
    copies_ |= i.several_places;
  }
  for (const auto& [call, callee] : callees_) {
    if (callee.returns_twice) return;
  }
  if (is_in_parts(elf, function)) return;
  find_blocks();
  understood_ = follow_blocks(elf);
  frame_taken_ |= terms_.frame_hidden();
}

std::size_t InstrumentedFunction::at(std::uint64_t address) const {
  const auto found = std::lower_bound(instructions_.begin(), instructions_.end(), address,
                                      [](const Instruction& i, std::uint64_t a) { return i.address < a; });
  if (found == instructions_.end() || found->address != address) return kNowhere;
  return static_cast<std::size_t>(found - instructions_.begin());
}

std::size_t InstrumentedFunction::call_before(std::uint64_t address) const {
  const std::size_t next = at(address);
  if (next == kNowhere || next == 0 || instructions_[next - 1].kind != InstructionKind::kCall) return kNowhere;
  return next - 1;
}

void InstrumentedFunction::name_calls(const ElfCode& elf) {
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    Instruction& instruction = instructions_[i];
    const bool leaves = (instruction.kind == InstructionKind::kJump || instruction.kind == InstructionKind::kBranch) &&
                        at(instruction.target) == kNowhere;
    // jmp *slot(%rip), the tail call of code without a procedure linkage table
    const bool through_slot = instruction.loads && instruction.address_of == 0 && !instruction.memory.other_segment;
    std::string name;
    bool outside = true;
    if (instruction.kind == InstructionKind::kIndirectJump && through_slot) {
      name = elf.stored_at(static_cast<std::uint64_t>(instruction.memory.displacement));
      if (name.empty()) continue;
      instruction.kind = InstructionKind::kJump;
    } else if (instruction.kind == InstructionKind::kCall && instruction.target == 0) {
      if (through_slot) name = elf.stored_at(static_cast<std::uint64_t>(instruction.memory.displacement));
    } else if (instruction.kind == InstructionKind::kCall || leaves) {
      name = elf.callee(instruction.target, outside);
    } else {
      continue;
    }
    Callee& callee = callees_[i] = callee_named(name);
    callee.outside = outside || callee.of_instrumentation();
  }
}

// True if the code that the function jumps to may jump back into it. GCC moves rarely executed code elsewhere, as a
// function of its own; the effect of such code on registers and the frame is not followed.
bool InstrumentedFunction::is_in_parts(const ElfCode& elf, const ElfCode::Function& function) {
  const auto inside = [&](std::uint64_t a) { return a > function.start && a - function.start < function.code.size(); };
  std::set<std::uint64_t> seen;
  for (const auto& [jump, callee] : callees_) {
    if (instructions_[jump].kind == InstructionKind::kCall || callee.outside) continue;
    const auto part = elf.function_at(instructions_[jump].target);
    if (!part) return true;
    if (!seen.insert(part->start).second) continue;
    const std::vector<Instruction> code = decode_all(part->code, part->start, kMaxInstructions);
    steps_ += code.size();
    const auto comes_back = [&](const Instruction& i) {
      const bool by_table = i.kind == InstructionKind::kIndirectJump && (i.reads | i.address_of) != 0;
      return by_table || ((i.kind == InstructionKind::kJump || i.kind == InstructionKind::kBranch) && inside(i.target));
    };
    if (code.empty() || steps_ > kMaxFunctionSteps || std::any_of(code.begin(), code.end(), comes_back)) return true;
  }
  return false;
}

void InstrumentedFunction::find_blocks() {
  blocks_.insert(0);
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const Instruction& instruction = instructions_[i];
    if (instruction.kind == InstructionKind::kPlain || instruction.kind == InstructionKind::kCall ||
        instruction.kind == InstructionKind::kSystem)
      continue;
    if (i + 1 < instructions_.size()) blocks_.insert(i + 1);
    const std::size_t target = instruction.target == 0 ? kNowhere : at(instruction.target);
    if (target != kNowhere) blocks_.insert(target);
  }
}

void InstrumentedFunction::enter(std::size_t block, const Registers& registers) {
  const auto [it, fresh] = known_.try_emplace(block, registers);
  bool changed = fresh;
  for (unsigned r = 0; r < kGeneralRegisters && !fresh; ++r) {
    auto& before = it->second[r];
    if (!before || before == registers[r]) continue;
    // A pointer to the frame is not followed any further.
    const bool points = before->symbol == kFrame || (registers[r] && registers[r]->symbol == kFrame);
    frame_taken_ |= points;
    before.reset();
    changed = true;
  }
  for (unsigned r = 0; r < kGeneralRegisters && !fresh; ++r) {
    frame_taken_ |= !it->second[r] && registers[r] && registers[r]->symbol == kFrame;
  }
  if (changed) changed_.insert(block);
}

void InstrumentedFunction::leave(std::size_t instruction, const Registers& registers) {
  const Instruction& last = instructions_[instruction];
  const bool jumps = last.kind == InstructionKind::kJump || last.kind == InstructionKind::kBranch;
  const std::size_t target = jumps && last.target != 0 ? at(last.target) : kNowhere;
  if (target != kNowhere) enter(target, registers);
  const bool ends = last.kind == InstructionKind::kJump || last.kind == InstructionKind::kReturn ||
                    last.kind == InstructionKind::kStop;
  if (!ends && instruction + 1 < instructions_.size()) enter(instruction + 1, registers);
}

// Also analyses code to which no jump leads: it may run when an exception is caught, and jump back.
void InstrumentedFunction::enter_hidden() {
  for (const std::size_t block : blocks_) {
    if (known_.contains(block)) continue;
    std::size_t first = block;
    while (first < instructions_.size() && instructions_[first].is_nothing()) ++first;
    const bool only_fills = first == instructions_.size() || (first != block && blocks_.contains(first));
    if (!only_fills) enter(block, Registers{});
  }
}

bool InstrumentedFunction::follow_blocks(const ElfCode& elf) {
  Registers entry;
  entry[kRsp] = Term{kFrame, 0};
  enter(0, entry);
  for (bool hidden : {false, true}) {
    if (hidden) {
      for (const auto& [block, registers] : known_) {
        std::size_t i = block;
        do {
          reached_[i] = true;
        } while (++i < instructions_.size() && !blocks_.contains(i));
      }
      enter_hidden();
    }
    while (!changed_.empty()) {
      const std::size_t block = *changed_.begin();
      changed_.erase(changed_.begin());
      follow(elf, block, false);
      if (steps_ > kMaxFunctionSteps) return false;
    }
  }
  for (const auto& [block, registers] : known_) follow(elf, block, true);
  return true;
}

// Executes a block. `keep`: records the places of its accesses.
void InstrumentedFunction::follow(const ElfCode& elf, std::size_t block, bool keep) {
  AddressState state(terms_, known_.at(block));
  std::vector<Announced> announced;
  std::size_t i = block;
  for (;; ++i, ++steps_) {
    const Instruction& instruction = instructions_[i];
    if (keep) note(i, state, announced, elf);
    if (instruction.kind == InstructionKind::kCall) {
      call(i, state, announced, keep);
    } else if (instruction.kind == InstructionKind::kPlain) {
      const bool number = instruction.loads && state.address(instruction.memory).symbol == kNumber;
      state.execute(instruction, !number || elf.may_change(state.address(instruction.memory).constant));
    } else if (instruction.kind == InstructionKind::kSystem) {
      state.call(true);
    }
    if (i + 1 == instructions_.size() || blocks_.contains(i + 1)) break;
  }
  frame_taken_ |= state.frame_taken();
  if (!keep) leave(i, state.known());
}

void InstrumentedFunction::call(std::size_t instruction, AddressState& state, std::vector<Announced>& announced,
                                bool keep) {
  const Callee& callee = callees_.at(instruction);
  if (keep) {
    const Term stack = state.of(kRsp);
    stack_at_[instruction] =
        stack.symbol == kFrame ? std::optional(static_cast<std::int64_t>(stack.constant)) : std::nullopt;
  }
  if (!callee.of_instrumentation()) announced.clear();
  if (callee.announces()) {
    const Term address = state.of(kRdi);
    if (announced.size() >= kMaxAnnounced) announced.erase(announced.begin());
    if (callee.kind != Callee::Kind::kAnnouncesWrite) announced.push_back({address, callee.bytes, false, instruction});
    if (callee.kind != Callee::Kind::kAnnouncesRead) announced.push_back({address, callee.bytes, true, instruction});
  }
  state.call(!callee.of_instrumentation());
}

void InstrumentedFunction::note(std::size_t instruction, const AddressState& state, std::vector<Announced>& announced,
                                const ElfCode& elf) {
  const Instruction& i = instructions_[instruction];
  if (i.kind == InstructionKind::kCall || (!i.loads && !i.stores)) return;
  Access& access = accesses_[instruction];
  access.where = Access::Where::kElsewhere;
  if (i.several_places) {
    if (i.stores) announced.clear();
    return;
  }
  Term place = state.address(i.memory);
  if (i.shape == Instruction::Shape::kPush) place.constant -= kWord;
  if (place.symbol == kNumber) access.where = Access::Where::kFixed;
  if (place.symbol == kFrame) access.where = Access::Where::kInFrame;
  access.offset = static_cast<std::int64_t>(place.constant);
  access.constant = is_of_thread(i.memory) || (place.symbol == kNumber && !elf.may_change(place.constant));
  for (const Announced& by : announced) {
    const std::uint64_t inside = place.constant - by.address.constant;
    if (place.symbol != by.address.symbol || inside > by.bytes || i.bytes > by.bytes - inside) continue;
    if (i.loads && !by.write) access.read_by = by.call;
    if (i.stores && by.write) access.written_by = by.call;
  }
  if (!i.stores) return;
  std::erase_if(announced,
                [&](const Announced& by) { return !by.write && !are_apart(place, i.bytes, by.address, by.bytes); });
  if (access.where != Access::Where::kInFrame) return;
  for (std::int64_t word = word_of(access.offset); word <= word_of(access.offset + i.bytes - 1); ++word)
    frame_stores_.insert(word);
}

bool InstrumentedFunction::passes_on_stack(std::size_t call) const {
  const auto stack = stack_at_.find(call);
  if (stack == stack_at_.end() || !stack->second || copies_) return true;
  return frame_stores_.contains(word_of(*stack->second));
}

}  // namespace reweave
