// Finds the operand with which a run failed, in the instructions that its last thread executed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explorer/explain/way/executed_part.h"
#include "explorer/explain/way/history.h"
#include "explorer/explain/way/slice.h"
#include "explorer/explain/way/value_way.h"
#include "formats/wire.h"

namespace reweave {

// The end of a run.
struct RunEnd {
  wire::OutcomeKind outcome = wire::OutcomeKind::kPassed;
  int wait_status = 0;
  std::optional<ThreadId> thread = {};  // the thread of a memory error
};

struct FailedOperand {
  std::vector<WayStep> steps;        // uses of the operand at the end, the last first
  std::vector<ValueSource> sources;  // values from which it was computed
  std::string unknown;               // the reason if no operand was found; then the other members are empty
};

// Access to the program's code.
struct CodeView {
  std::function<const Instruction*(std::uint64_t address)> at;  // null: not known
  std::function<std::string(const Instruction& call)> callee;   // name of the called function; empty: not known
};

FailedOperand failed_operand(const ExecutedPart& part, ThreadId thread, const RunEnd& end, const AccessHistory& history,
                             const CodeView& code);

}  // namespace reweave
