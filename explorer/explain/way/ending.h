// The operand with which a run failed, in the instructions that its last thread executed.
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

// How the run ended, as far as it matters here.
struct RunEnd {
  wire::OutcomeKind outcome = wire::OutcomeKind::kPassed;
  int wait_status = 0;
  std::optional<ThreadId> thread = {};  // that a memory error is of
};

struct FailedOperand {
  std::vector<WayStep> steps;        // what the thread did with it at the end; the last first
  std::vector<ValueSource> sources;  // what it was computed from
  std::string unknown;               // why there is no operand; then the rest is empty
};

// What is asked of the program's code.
struct CodeView {
  std::function<const Instruction*(std::uint64_t address)> at;  // null: not known
  std::function<std::string(const Instruction& call)> callee;   // the name of what is called; empty: not known
};

FailedOperand failed_operand(const ExecutedPart& part, ThreadId thread, const RunEnd& end, const AccessHistory& history,
                             const CodeView& code);

}  // namespace reweave
