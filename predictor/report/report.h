// Findings as text for people: the failure, its variable, the lines, with call stacks and held locks, and on demand the
// witness in columns.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "predictor/model/trace_model.h"
#include "predictor/witness/finding.h"

namespace reweave {

// Functions that name numbers of the model. The reader of the trace provides them; each may be empty.
struct Names {
  // A code location: "function at file:line".
  std::function<std::string(std::uint32_t site)> site;
  // Likewise for the functions it was inlined into, innermost first.
  std::function<std::vector<std::string>(std::uint32_t site)> inlined_into;
  // The text of the source line; empty if unknown.
  std::function<std::string(std::uint32_t site)> source_line;
  // True for calls inside Reweave's libraries.
  std::function<bool(std::uint32_t site)> hidden;
  // True for calls in main and calls of a thread's function: the frames outside these belong to the C library.
  std::function<bool(std::uint32_t site)> outermost;
  // A global address: "name" or "name+8"; empty if unknown.
  std::function<std::string(std::uint64_t address)> address;
  std::function<std::string(ThreadId)> thread;
};

struct ReportOptions {
  bool witness = false;
  std::uint32_t context = 3;  // events around each event of interest in a witness
};

// Name of variable or lock `object`: a global's, "heap block #n of <allocation site> +offset", or the address.
std::string object_text(const TraceModel& model, const ObjectName& object, const Names& names);

// Likewise for the object of event `e`, of any kind: "thread 2" for a fork, join or end.
std::string event_object_text(const TraceModel& model, EventIndex e, const Names& names);

// "thread 3", or the name in the trace.
std::string thread_text(ThreadId thread, const Names& names);

// The action of an event as a verb: "writes".
const char* verb_of(const TraceModel& model, EventIndex e);

// The calls of a stack (TraceModel::calls) that are worth showing, innermost first.
std::vector<std::uint32_t> shown_calls(const TraceModel& model, std::uint32_t stack, const Names& names);

// One sentence that describes the failure.
std::string explain(const TraceModel& model, const Finding& finding, const Names& names);

void write_finding(std::ostream& out, const TraceModel& model, const Finding& finding, const Names& names,
                   const ReportOptions& options);

// Writes all findings, numbered from 1, with a line of totals.
void write_report(std::ostream& out, const TraceModel& model, std::span<const Finding> findings, const Names& names,
                  const ReportOptions& options);

// Writes the witness with one column per thread: the finding's events, recent accesses of its variables, and their
// context.
void write_witness(std::ostream& out, const TraceModel& model, const Finding& finding, const Names& names,
                   const ReportOptions& options);

}  // namespace reweave
