#include "predictor/report/report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <set>

namespace reweave {
namespace {

std::string hex(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::string site_text(std::uint32_t site, const Names& names) {
  const std::string name = names.site ? names.site(site) : "";
  return name.empty() ? "location " + std::to_string(site) : name;
}

void write_frame(std::ostream& out, const char* word, std::uint32_t site, const Names& names) {
  out << "      " << word << ' ' << site_text(site, names) << '\n';
  const std::string line = names.source_line ? names.source_line(site) : "";
  if (!line.empty()) out << "           | " << line << '\n';
  if (!names.inlined_into) return;
  for (const std::string& caller : names.inlined_into(site)) out << "      by " << caller << " (inlined)\n";
}

void write_stack(std::ostream& out, const TraceModel& model, std::uint32_t site, std::uint32_t stack,
                 const Names& names) {
  write_frame(out, "in", site, names);
  for (const std::uint32_t call : shown_calls(model, stack, names)) write_frame(out, "by", call, names);
}

// The heap block that an event operates on, or kNone.
std::uint32_t block_of(const TraceModel& model, EventIndex e) {
  const std::uint32_t object = model.object[e];
  if (model.is_access(e)) return model.variables[object].block;
  if (model.op[e] == Op::kFree) return object;
  if (model.is_acquire(e) || model.op[e] == Op::kRequest) return model.locks[object].block;
  return kNone;
}

// Writes the places where the heap blocks of a finding were allocated.
void write_blocks(std::ostream& out, const TraceModel& model, const Finding& c, const Names& names) {
  std::set<std::uint32_t> written;
  for (const FindingEvent& e : c.events) {
    const std::uint32_t number = block_of(model, e.index);
    if (number == kNone || !written.insert(number).second) continue;
    const HeapBlock& block = model.blocks[number];
    if (block.is_stack) continue;
    out << "    heap block #" << block.nth + 1 << " of " << block.bytes << " bytes, allocated\n";
    write_stack(out, model, block.site, block.stack, names);
  }
}

void write_held(std::ostream& out, const TraceModel& model, EventIndex e, const Names& names) {
  if (model.held[e] == 0) {
    out << "      holding no lock\n";
    return;
  }
  for (std::uint32_t node = model.held[e]; node != 0; node = model.held_nodes[node].parent) {
    const EventIndex acquire = model.held_nodes[node].acquire;
    out << "      holding " << object_text(model, model.locks[model.object[acquire]], names)
        << (model.is_shared(acquire) ? " (shared)" : "") << ", locked at " << site_text(model.site[acquire], names)
        << '\n';
  }
}

}  // namespace

std::vector<std::uint32_t> shown_calls(const TraceModel& model, std::uint32_t stack, const Names& names) {
  std::vector<std::uint32_t> calls;
  for (std::uint32_t node = stack; node != 0; node = model.calls[node].parent) {
    const std::uint32_t call = model.calls[node].site;
    if (!names.hidden || !names.hidden(call)) calls.push_back(call);
    if (names.outermost && names.outermost(call)) break;
  }
  return calls;
}

std::string object_text(const TraceModel& model, const ObjectName& object, const Names& names) {
  if (object.block != kNone) {
    const HeapBlock& block = model.blocks[object.block];
    if (block.is_stack)
      return "stack of " + thread_text(static_cast<ThreadId>(block.nth), names) + " at " + hex(object.address);
    return "heap block #" + std::to_string(block.nth + 1) + " of " + site_text(block.site, names) + " +" +
           std::to_string(object.address - block.address);
  }
  const std::string name = names.address ? names.address(object.address) : "";
  return name.empty() ? hex(object.address) : name;
}

void write_finding(std::ostream& out, const TraceModel& model, const Finding& c, const Names& names,
                   const ReportOptions& options) {
  std::array<char, 32> score{};
  std::snprintf(score.data(), score.size(), "%.1f", c.score);
  out << kind_name(c.kind) << ' ' << c.pattern << "  score " << score.data() << ", seen " << c.count
      << (c.count == 1 ? " time\n" : " times\n");
  out << "  " << explain(model, c, names) << '\n';
  for (const std::string& text : assumptions_of(c)) out << "  " << text << '\n';
  for (const std::string& text : c.remarks) out << "  " << text << '\n';
  for (const FindingEvent& e : c.events) {
    out << "    " << thread_text(e.thread, names) << ' ' << verb_of(model, e.index) << ' '
        << event_object_text(model, e.index, names) << " (event " << model.source[e.index] << ")\n";
    write_stack(out, model, e.site, model.stack[e.index], names);
    write_held(out, model, e.index, names);
  }
  write_blocks(out, model, c, names);
  if (options.witness) write_witness(out, model, c, names, options);
}

void write_report(std::ostream& out, const TraceModel& model, std::span<const Finding> findings, const Names& names,
                  const ReportOptions& options) {
  std::size_t number = 0;
  bool above = true;
  for (const Finding& c : findings) {
    if (above && !worth_reading(c.score)) {
      above = false;
      out << "--- worth reading above, less likely below ---\n\n";
    }
    out << '#' << ++number << ' ';
    write_finding(out, model, c, names, options);
    out << '\n';
  }
  const auto worth =
      std::count_if(findings.begin(), findings.end(), [](const Finding& c) { return worth_reading(c.score); });
  out << findings.size() << (findings.size() == 1 ? " finding" : " findings") << " in " << model.size() << " events of "
      << model.thread_count() << " threads";
  out << (findings.empty() ? "" : ", " + std::to_string(worth) + " worth reading first") << '\n';
}

}  // namespace reweave
