// Exit statuses of `reweave`. Part of the interface: scripts depend on them. `reweave --help` and README show the
// table.
#pragma once

#include "formats/wire.h"

namespace reweave {

inline constexpr int kExitBadInput = 2;       // a file or argument cannot be used
inline constexpr int kExitDiverged = 3;       // a replay differed from its recording
inline constexpr int kExitSystem = 4;         // the operating system refused, or has run out of something
inline constexpr int kExitUnsupported = 5;    // the target did something that cannot be recorded
inline constexpr int kExitTruncated = 6;      // the input is truncated: only its readable part was used
inline constexpr int kExitDeadlock = 7;       // the run ended in a deadlock
inline constexpr int kExitHang = 8;           // an explored run that does not end under a fair schedule
inline constexpr int kExitMemoryError = 9;    // use after free, double free
inline constexpr int kExitFailureFound = 10;  // explore or hunt found a failure
inline constexpr int kExitNotExamined = 11;   // explore or hunt could examine no run, explain found nothing
inline constexpr int kExitSuspected = 12;     // explore or hunt could not follow a run that may fail
inline constexpr int kExitInternal = 70;      // a defect of Reweave

struct ExitStatusRow {
  int status;
  const char* text;
};
inline constexpr ExitStatusRow kExitStatuses[] = {
    {kExitBadInput, "a file or an argument cannot be used"},
    {kExitDiverged, "a replay did not do what the recording says (Divergence), or an explored run left the recording"},
    {kExitSystem, "the operating system refused something, or ran out of a resource such as disk space"},
    {kExitUnsupported, "the program did something that cannot be recorded; the message says what to do"},
    {kExitTruncated, "the recording or trace is truncated or still being made: the part that exists was used"},
    {kExitDeadlock, "the run ended in a deadlock; the message says who waits for what"},
    {kExitHang, "the run hangs: a fair schedule does not end it"},
    {kExitMemoryError, "a memory error: heap use after free, double free, out of bounds"},
    {kExitFailureFound, "explore, hunt or campaign merge found a failure that replays"},
    {kExitNotExamined, "explore, hunt or campaign merge could examine no run, or explain found no order that matters"},
    {kExitSuspected, "explore or hunt found no failure, but could not follow to its end a run that may fail"},
    {kExitInternal, "a defect of Reweave"},
};

// Status of a run that the runtime ended with `outcome`.
constexpr int exit_status_of(wire::OutcomeKind outcome) {
  switch (outcome) {
    case wire::OutcomeKind::kPassed:
      return 0;
    case wire::OutcomeKind::kDeadlock:
      return kExitDeadlock;
    case wire::OutcomeKind::kHang:
      return kExitHang;
    case wire::OutcomeKind::kMemoryError:
      return kExitMemoryError;
    case wire::OutcomeKind::kDiverged:
    case wire::OutcomeKind::kLeftRecording:
      return kExitDiverged;
    case wire::OutcomeKind::kUnsupported:
      return kExitUnsupported;
    case wire::OutcomeKind::kTruncated:
      return kExitTruncated;
    case wire::OutcomeKind::kExitStatus:
    case wire::OutcomeKind::kSignalled:
    case wire::OutcomeKind::kCheckFailed:
      return 1;
  }
  return kExitInternal;
}

}  // namespace reweave
