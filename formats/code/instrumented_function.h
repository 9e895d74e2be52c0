// One function of a program built with -fsanitize=thread, decoded: its blocks, the functions that it calls, and for
// each access to memory whether it is to the function's own frame and which call announced it.
//
// The compiler puts a call before each access that other threads can see: __tsan_read4(address), then the load. The
// call's return address is the place of the access in a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/code/address_terms.h"
#include "formats/code/machine_code.h"
#include "formats/elf/elf_code.h"

namespace reweave {

// The effect of a call, as far as the callee's name tells.
struct Callee {
  enum class Kind : std::uint8_t {
    kAnnouncesRead,
    kAnnouncesWrite,
    kAnnouncesBoth,
    kMarksFunction,  // __tsan_func_entry, __tsan_func_exit
    kOther,
  };
  Kind kind = Kind::kOther;
  std::uint8_t bytes = 0;  // announced size
  bool updates = false;    // an atomic update, which returns the old value: __tsan_atomic32_fetch_add and the like
  bool outside = false;    // keeps to the calling convention, as functions of other files do
  bool named = false;
  bool returns_twice = false;
  bool jumps_on = false;  // jumps to an address in a register

  bool announces() const { return kind != Kind::kOther && kind != Kind::kMarksFunction; }
  bool of_instrumentation() const { return kind != Kind::kOther; }
};

// The callee with that name; an empty name means unknown.
Callee callee_named(std::string_view name);

class InstrumentedFunction {
 public:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  // The place and the announcements of an instruction's access to memory.
  struct Access {
    enum class Where : std::uint8_t {
      kNoAccess,
      kInFrame,    // at `offset` from the stack pointer on entry
      kFixed,      // at a fixed address of the file
      kElsewhere,  // anywhere, the frame included
    };
    Where where = Where::kNoAccess;
    std::int64_t offset = 0;
    std::size_t read_by = kNowhere, written_by = kNowhere;  // index of the call that announced the load, the store
    bool constant = false;                                  // the loaded value never changes
  };

  // `elf` is used only here.
  InstrumentedFunction(const ElfCode& elf, const ElfCode::Function& function);

  // False if something in the function was not understood; then the other answers are meaningless.
  bool understood() const { return understood_; }
  // The number of instructions examined for the analysis.
  std::uint64_t work() const { return instructions_.size() + steps_; }
  const std::vector<Instruction>& instructions() const { return instructions_; }
  // The instruction at an address, or kNowhere.
  std::size_t at(std::uint64_t address) const;
  // The call that returns to `address`, or kNowhere.
  std::size_t call_before(std::uint64_t address) const;
  const Callee& callee(std::size_t call) const { return callees_.at(call); }
  // The destination of a jump out of the function.
  const Callee& destination(std::size_t jump) const { return callees_.at(jump); }
  const Access& access(std::size_t instruction) const { return accesses_[instruction]; }
  // False for code that is reached only in ways that the analysis does not see, such as exceptions.
  bool reached(std::size_t instruction) const { return reached_[instruction]; }
  // True if a jump may lead to the instruction, or if the preceding instruction may not fall through to it.
  bool starts_block(std::size_t instruction) const { return blocks_.contains(instruction); }
  // True if pointers into the frame may be in registers or memory.
  bool frame_taken() const { return frame_taken_; }
  // True if exceptions may pass through the function, so that code that is not followed may run before it returns.
  bool unwinds() const { return unwinds_; }
  // True if this call may pass arguments on the stack.
  bool passes_on_stack(std::size_t call) const;

 private:
  struct Announced {
    Term address;
    std::uint8_t bytes;
    bool write;
    std::size_t call;
  };
  using Registers = AddressState::Registers;

  void name_calls(const ElfCode& elf);
  bool is_in_parts(const ElfCode& elf, const ElfCode::Function& function);
  void find_blocks();
  bool follow_blocks(const ElfCode& elf);
  void follow(const ElfCode& elf, std::size_t block, bool keep);
  void enter(std::size_t block, const Registers& registers);
  void enter_hidden();
  void leave(std::size_t instruction, const Registers& registers);
  void call(std::size_t instruction, AddressState& state, std::vector<Announced>& announced, bool keep);
  void note(std::size_t instruction, const AddressState& state, std::vector<Announced>& announced, const ElfCode& elf);

  std::vector<Instruction> instructions_;
  std::map<std::size_t, Callee> callees_;  // calls, and jumps out
  std::vector<Access> accesses_;
  std::vector<bool> reached_;
  std::set<std::size_t> blocks_;  // first instructions
  Terms terms_;
  std::map<std::size_t, Registers> known_;                       // at the start of blocks
  std::set<std::size_t> changed_;                                // blocks to follow again
  std::set<std::int64_t> frame_stores_;                          // places of the frame, in words of 8 bytes
  std::map<std::size_t, std::optional<std::int64_t>> stack_at_;  // offset of the stack pointer at calls
  std::uint64_t steps_ = 0;
  bool understood_ = false, frame_taken_ = false, unwinds_ = true;
  bool copies_ = false;  // an instruction, such as a string instruction, accesses memory at no known place
};

}  // namespace reweave
