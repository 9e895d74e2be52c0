#include "explorer/explain/way/slice.h"

#include <algorithm>

namespace reweave {

namespace {

using SourceKind = ValueSource::Kind;

constexpr RegisterSet vectors(unsigned count) {
  RegisterSet set = 0;
  for (unsigned i = 0; i < count; i++) set |= bit(kFirstVector + i);
  return set;
}
// The calling convention of x86-64: the registers of results, and those that a function preserves.
constexpr RegisterSet kResults = bit(kRax) | bit(kRdx) | vectors(2);
constexpr RegisterSet kKept = bit(kRbx) | bit(kRsp) | bit(kRbp) | bit(12) | bit(13) | bit(14) | bit(15);
// Stack addresses say nothing about a value, and segment registers do not change.
constexpr RegisterSet kIgnored = bit(kRsp) | bit(kOtherRegister);

constexpr std::size_t kMostDistance = 200;  // steps between an announcement and its access

class Backward {
 public:
  Backward(const ExecutedPart& part, const AccessHistory& history) : steps_(part.steps), history_(history) {}

  void need(RegisterSet registers) { registers_ |= registers & ~kIgnored; }
  void need_operands(std::size_t step) {
    need(steps_[step].instruction->reads);
    if (steps_[step].instruction->loads) load(step);
  }

  std::vector<ValueSource> go(std::size_t end) {
    for (std::size_t i = end; i-- > 0 && (registers_ != 0 || !places_.empty());) visit(i);
    for (const Needed& needed : places_) found(SourceKind::kLoad, needed.step);
    if (registers_ != 0) found(SourceKind::kEarlier, 0);
    std::ranges::sort(sources_, std::greater{}, &ValueSource::step);
    sources_.erase(std::unique(sources_.begin(), sources_.end()), sources_.end());
    return std::move(sources_);
  }

  const std::vector<std::size_t>& constants() const { return constants_; }

 private:
  // Bytes of memory that the thread itself may have stored, and the step that loaded them.
  struct Needed {
    std::uint64_t place = 0;
    std::uint8_t bytes = 0;
    std::uint64_t value = 0;
    std::size_t step = 0;
  };

  void found(SourceKind kind, std::size_t step, std::size_t entry = AccessHistory::kNone) {
    sources_.push_back({kind, step, entry});
  }

  void visit(std::size_t i) {
    const ExecutedStep& step = steps_[i];
    if (step.passed_over) return call(i);
    const Instruction& instruction = *step.instruction;
    if (instruction.kind != Instruction::Kind::kPlain) return;  // jumps, calls and returns pass no values
    const RegisterSet written = instruction.writes & registers_;
    const bool stores = instruction.stores && take_stored(step);
    if (written == 0 && !stores) return;
    if (instruction.several_places) return found(SourceKind::kUnknown, i), registers_ &= ~written, void();
    registers_ &= ~instruction.replaces;
    if (instruction.reads == 0 && !instruction.loads) constants_.push_back(i);
    need_operands(i);
  }

  // Results of calls are not followed, except those of atomic operations, which return the value that they read.
  void call(std::size_t i) {
    const ExecutedStep& step = steps_[i];
    const bool atomic = step.callee.starts_with("__tsan_atomic") && step.first_entry != ExecutedStep::kNoEntry;
    if (atomic && (registers_ & bit(kRax)) != 0)
      found(SourceKind::kLoad, i, step.first_entry);
    else if ((registers_ & kResults) != 0)
      found(SourceKind::kCall, i);
    registers_ &= kKept;
  }

  void load(std::size_t i) {
    const ExecutedStep& step = steps_[i];
    const Instruction& instruction = *step.instruction;
    if (!step.loaded) return found(SourceKind::kUnknown, i);
    const std::size_t entry = announced(i);
    if (entry != AccessHistory::kNone) return found(SourceKind::kLoad, i, entry);
    places_.push_back({step.place, instruction.bytes, *step.loaded, i});
  }

  // The entry that announces the load; kNone if there is none.
  std::size_t announced(std::size_t i) const {
    const ExecutedStep& load = steps_[i];
    for (std::size_t k = i; k-- > 0 && i - k < kMostDistance;) {
      const ExecutedStep& call = steps_[k];
      if (call.instruction->stores && call.place == load.place) break;
      if (call.first_entry == ExecutedStep::kNoEntry) continue;
      const TraceEvent& what = history_[call.first_entry].what;
      const bool covers =
          load.place >= what.address && load.place + load.instruction->bytes <= what.address + what.extra;
      if (is_read(what.kind) && covers) return call.first_entry;
    }
    return AccessHistory::kNone;
  }

  // Takes the needed bytes that the step stored. If other code changed them before the load, the load becomes a source.
  bool take_stored(const ExecutedStep& step) {
    const std::uint8_t bytes = step.instruction->bytes;
    bool taken = false;
    for (std::size_t n = places_.size(); n-- > 0;) {
      const Needed needed = places_[n];
      if (step.place >= needed.place + needed.bytes || needed.place >= step.place + bytes) continue;
      places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(n));
      const bool whole = needed.place >= step.place && needed.place + needed.bytes <= step.place + bytes;
      if (whole && step.stored && same_bytes(needed, step))
        taken = true;
      else
        found(SourceKind::kLoad, needed.step);
    }
    return taken;
  }
  static bool same_bytes(const Needed& needed, const ExecutedStep& step) {
    const std::uint64_t stored = *step.stored >> (8 * (needed.place - step.place));
    const std::uint64_t mask = needed.bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * needed.bytes)) - 1;
    return ((stored ^ needed.value) & mask) == 0;
  }

  const std::vector<ExecutedStep>& steps_;
  const AccessHistory& history_;
  RegisterSet registers_ = 0;
  std::vector<Needed> places_;
  std::vector<ValueSource> sources_;
  std::vector<std::size_t> constants_;  // steps
};

}  // namespace

std::vector<ValueSource> sources_of(const ExecutedPart& part, std::size_t end, RegisterSet registers,
                                    const AccessHistory& history) {
  Backward backward(part, history);
  backward.need(registers);
  return backward.go(end);
}

std::optional<std::size_t> constant_of(const ExecutedPart& part, std::size_t end, RegisterSet registers,
                                       const AccessHistory& history) {
  Backward backward(part, history);
  backward.need(registers);
  if (!backward.go(end).empty() || backward.constants().size() != 1) return {};
  return backward.constants().front();
}

std::vector<ValueSource> sources_of_operands(const ExecutedPart& part, std::size_t step, const AccessHistory& history) {
  Backward backward(part, history);
  backward.need_operands(step);
  return backward.go(step);
}

}  // namespace reweave
