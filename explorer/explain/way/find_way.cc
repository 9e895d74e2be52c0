#include "explorer/explain/way/find_way.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "explorer/explain/way/program_code.h"
#include "explorer/explain/way/step_recorder.h"
#include "formats/base/error.h"

namespace reweave {

namespace {

constexpr std::size_t kNoEntry = AccessHistory::kNone;
constexpr std::size_t kMostWaySteps = 16;
constexpr std::size_t kMostSources = 3;
// Numbers of a thread's accesses to replay before the one that matters; the next number is tried if the value is older.
constexpr std::size_t kAccesses[] = {48, 400, 4000};

class WayFinder {
 public:
  WayFinder(const std::string& recording, const TraceReader& trace, const RunEnd& end, Places& places,
            StepRecorder::Clock::time_point deadline)
      : recording_(recording), code_(trace), history_(trace, 0), end_(end), places_(places), deadline_(deadline) {}

  ValueWay find() {
    follow_whole();
    return std::move(way_);
  }

 private:
  void follow_whole() {
    if (code_.empty()) return stop("the program is not built with -fsanitize=thread");
    if (!can_decode()) return stop("Zydis, which decodes instructions, is not installed");
    const auto thread = end_.thread ? end_.thread : history_.last_thread();
    if (!thread || history_.last_of(*thread) == kNoEntry)
      return stop("the last thread accessed nothing that was traced");
    recorder_.emplace(recording_, places_.address_of("main"), code_, history_, deadline_);
    follow_end(*thread);
  }

  void stop(std::string why) { way_.end = std::move(why); }
  bool is_over() const { return !way_.end.empty(); }

  // The entry that comes `accesses` accesses of the thread before `until`; kNoEntry: the thread's beginning.
  std::size_t start_of(ThreadId thread, std::size_t until, std::size_t accesses) const {
    std::size_t at = until == kNoEntry ? history_.last_of(thread) : history_.before(until);
    std::size_t start = kNoEntry;
    for (std::size_t count = 0; at != kNoEntry; at = history_.before(at)) {
      if (!can_start(at)) {
        if (history_[at].number == 0) break;
        continue;
      }
      start = at;
      if (++count > accesses) return start;
    }
    return history_.cut() ? start : kNoEntry;
  }
  bool can_start(std::size_t entry) const {
    const TraceEvent& what = history_[entry].what;
    const bool plain = what.kind == EventKind::kRead || what.kind == EventKind::kWrite;
    return plain && (what.aux & kSamePoint) == 0 && history_[entry].number > 0 && code_.at(what.pc) != nullptr;
  }

  static bool is_older(const std::vector<ValueSource>& sources) {
    return std::ranges::any_of(sources, [](const auto& s) { return s.kind == ValueSource::Kind::kEarlier; });
  }

  // Records a part of the thread that ends at `until`, and returns what `sources` finds in it. Tries longer and longer
  // parts while a source is older than the part.
  template <typename Sources>
  std::vector<ValueSource> in_part(ThreadId thread, std::size_t until, const Sources& sources) {
    std::vector<ValueSource> found;
    std::optional<std::size_t> before;
    for (const std::size_t accesses : kAccesses) {
      const std::size_t start = start_of(thread, until, accesses);
      if (before == start || (start == kNoEntry && history_.cut())) break;
      before = start;
      part_ = recorder_->record(thread, start, until);
      part_start_ = start;
      found = sources();
      if (!is_older(found)) break;
    }
    return found;
  }

  void follow_end(ThreadId thread) {
    FailedOperand operand;
    operand.unknown = "the analysis did not follow the last part of the run";
    const CodeView view = {[this](std::uint64_t address) { return code_.at(address); },
                           [this](const Instruction& call) {
                             bool outside = false;
                             return code_.callee(call, outside);
                           }};
    const std::vector<ValueSource> sources = in_part(thread, kNoEntry, [&] {
      operand = failed_operand(part_, thread, end_, history_, view);
      return operand.sources;
    });
    if (!operand.unknown.empty()) return stop(operand.unknown);
    for (WayStep& step : operand.steps) way_.steps.push_back(std::move(step));
    if (end_.outcome == wire::OutcomeKind::kMemoryError) add_release();
    follow(thread, sources);
  }

  void add_release() {
    const std::uint64_t address = way_.steps.back().address;
    const auto block = history_.block_at(address, history_.size());
    if (!block) return;
    way_.steps.back().object = block_words(*block, address);
    if (!block->freed) return;
    WayStep frees = step_of(WayStep::Kind::kFrees, *block->freed);
    way_.steps.push_back(std::move(frees));
  }

  void follow(ThreadId thread, std::vector<ValueSource> sources) {
    while (!is_over()) {
      if (way_.steps.size() >= kMostWaySteps) return stop("it continues, but was not followed further");
      if (StepRecorder::Clock::now() > deadline_) return stop("the time was up");
      const std::size_t read = take_reads(thread, sources);
      if (is_over()) return;
      follow_read(thread, read, sources);
    }
  }

  // Adds the reads at `sources` to the way. Returns the index of the step to follow further.
  std::size_t take_reads(ThreadId thread, const std::vector<ValueSource>& sources) {
    if (sources.empty()) return stop("the value is a constant of the code"), 0;
    for (const ValueSource& source : sources)
      if (const std::string why = not_followed(source); !why.empty()) return stop(why), 0;
    std::vector<WayStep> reads;
    for (const ValueSource& source : sources) {
      WayStep read = read_step(thread, source);
      const auto same = [&](const WayStep& other) { return other.address == read.address; };
      if (std::ranges::none_of(reads, same)) reads.push_back(std::move(read));
    }
    return choose(thread, std::move(reads));
  }

  std::string not_followed(const ValueSource& source) const {
    switch (source.kind) {
      case ValueSource::Kind::kLoad:
        return "";
      case ValueSource::Kind::kCall: {
        const std::string& callee = part_.steps[source.step].callee;
        return callee.empty() ? "the value came from a call" : fmt::format("the value came from a call of {}", callee);
      }
      case ValueSource::Kind::kEarlier:
        return part_start_ == kNoEntry ? "the value came from code that is not instrumented"
                                       : "the value is older than the part of this thread that was followed";
      case ValueSource::Kind::kUnknown:
        return "the value went through an instruction that is not followed";
    }
    return "";
  }

  // Adds the reads to the way and returns the one to follow: the only one whose value another thread wrote or, failing
  // that, the only one whose value was written at all. Stops if there are several.
  std::size_t choose(ThreadId thread, std::vector<WayStep> reads) {
    const auto is_of_other = [&](const WayStep& read) {
      const std::size_t write = history_.last_write(read.address, read.bytes, entry_before(read));
      return write != kNoEntry && history_[write].what.thread != thread;
    };
    for (WayStep& read : reads)
      read.unwritten = !history_.cut() && history_.last_write(read.address, read.bytes, entry_before(read)) == kNoEntry;
    if (reads.size() > kMostSources)
      return stop(fmt::format("it was computed from {} values that the thread had read", reads.size())), 0;
    const auto is_written = [](const WayStep& read) { return !read.unwritten; };
    bool several = reads.size() > 1;
    if (std::ranges::count_if(reads, is_of_other) == 1) {
      std::ranges::stable_partition(reads, std::not_fn(is_of_other));
      several = false;
    } else if (std::ranges::count_if(reads, is_written) == 1) {
      std::ranges::stable_partition(reads, std::not_fn(is_written));
      several = false;
    }
    for (WayStep& read : reads) way_.steps.push_back(std::move(read));
    if (several) stop("it was computed from these values");
    return way_.steps.size() - 1;
  }

  std::size_t entry_before(const WayStep& read) const { return read_entry_.at(*read.event); }

  WayStep step_of(WayStep::Kind kind, std::size_t entry) const {
    const AccessHistory::Entry& of = history_[entry];
    WayStep step;
    step.kind = kind;
    step.thread = of.what.thread;
    step.pc = of.what.pc;
    step.event = of.event;
    step.number = of.number;
    step.address = of.what.address;
    step.bytes = of.what.extra;
    return step;
  }

  WayStep read_step(ThreadId thread, const ValueSource& source) {
    const ExecutedStep& at = part_.steps[source.step];
    // If no call announced the read, use the last announced access before it for its place in the order.
    const std::size_t entry = source.entry != kNoEntry ? source.entry : entry_at(thread, source.step);
    WayStep read = step_of(WayStep::Kind::kReads, entry);
    if (source.entry == kNoEntry) read.number = 0;
    if (!at.passed_over) {
      read.pc = source.entry == kNoEntry ? at.instruction->end() : read.pc;
      read.address = at.place;
      read.bytes = at.instruction->bytes;
      if (at.loaded) read.value = signed_value(*at.loaded, read.bytes);
    }
    read.object = object_at(read.address, entry);
    read_entry_[*read.event] = entry;
    return read;
  }

  std::size_t entry_at(ThreadId thread, std::size_t step) const {
    for (std::size_t i = step + 1; i-- > 0;)
      if (part_.steps[i].last_entry != ExecutedStep::kNoEntry) return part_.steps[i].last_entry;
    if (part_start_ != kNoEntry) return part_start_;
    std::size_t first = history_.last_of(thread);
    while (history_.before(first) != kNoEntry) first = history_.before(first);
    return first;
  }

  // Follows the value to the write that the read saw, and sets `sources` to the sources of the written value.
  void follow_read(ThreadId& thread, std::size_t index, std::vector<ValueSource>& sources) {
    const WayStep read = way_.steps[index];
    const std::size_t at = entry_before(read);
    const std::size_t write = history_.last_write(read.address, read.bytes, at);
    if (write == kNoEntry) return stop(unwritten(read, at));
    WayStep step = step_of(WayStep::Kind::kWrites, write);
    step.object = read.object;
    const ThreadId writer = step.thread;
    OfWrite found = {.why = "the write was not followed"};
    sources = in_part(writer, write, [&] {
      found = of_write(write, read, step);
      return found.sources;
    });
    if (!found.wrote_it) return stop("the write of this value is not in the trace");
    if (!found.why.empty()) {
      way_.steps.push_back(step);
      return stop(found.why);
    }
    way_.steps.push_back(step);
    add_missed(sources, write, writer);
    thread = writer;
  }

  std::string unwritten(const WayStep& read, std::size_t at) const {
    if (history_.cut()) return "the write happened before the part of the trace that was kept";
    const auto block = history_.block_at(read.address, at);
    return fmt::format("nothing in the trace wrote there before{}", block ? ", since it was allocated" : "");
  }

  // Facts about a write, found in the recorded part that ends with it.
  struct OfWrite {
    std::vector<ValueSource> sources = {};
    bool wrote_it = true;  // false: code that is not in the trace wrote the value that was read
    std::string why = {};  // reason why there are no sources; empty if there are
  };

  OfWrite of_write(std::size_t write, const WayStep& read, WayStep& step) const {
    if (part_.end != ExecutedPart::End::kThere || part_.steps.empty()) return {.why = "the write was not followed"};
    const std::size_t last = part_.steps.size() - 1;
    const ExecutedStep& at = part_.steps[last];
    if (at.passed_over) return of_call(write, read, at, step);
    const bool within = at.place <= read.address && read.address + read.bytes <= at.place + at.instruction->bytes;
    if (!within || !at.stored || !read.value) return {.why = "it wrote only a part of the value, or more than one"};
    step.value = signed_value(*at.stored >> (8 * (read.address - at.place)), read.bytes);
    step.address = read.address;
    step.bytes = read.bytes;
    return {sources_of_operands(part_, last, history_), *step.value == *read.value, ""};
  }

  OfWrite of_call(std::size_t write, const WayStep& read, const ExecutedStep& at, WayStep& step) const {
    const bool stores =
        at.callee.starts_with("__tsan_atomic") && (at.callee.ends_with("_store") || at.callee.ends_with("_exchange"));
    if (!stores || history_[write].what.extra > 8) {
      const std::string name = at.callee.starts_with("__tsan_") ? at.callee.substr(7) : at.callee;
      return {.why = fmt::format("the value was written in a call of {}", name.empty() ? "another function" : name)};
    }
    step.value = signed_value(at.registers[kRsi], history_[write].what.extra);
    const bool same = !read.value || *step.value == *read.value;
    return {sources_of(part_, part_.steps.size() - 1, bit(kRsi), history_), same, ""};
  }

  // Adds missed writes: other threads wrote to memory between this thread's read and its write of the computed value.
  void add_missed(const std::vector<ValueSource>& sources, std::size_t write, ThreadId writer) {
    for (const ValueSource& source : sources) {
      if (source.kind != ValueSource::Kind::kLoad || source.entry == kNoEntry) continue;
      const ExecutedStep& at = part_.steps[source.step];
      const std::uint64_t address = at.passed_over ? history_[source.entry].what.address : at.place;
      const std::uint64_t bytes = at.passed_over ? history_[source.entry].what.extra : at.instruction->bytes;
      const std::size_t between = history_.write_between(address, bytes, source.entry, write, writer);
      if (between == kNoEntry) continue;
      MissedWrite missed;
      missed.event = history_[source.entry].event;
      missed.write = step_of(WayStep::Kind::kWrites, between);
      missed.write.object = object_at(address, between);
      way_.missed.push_back(std::move(missed));
    }
  }

  std::string object_at(std::uint64_t address, std::size_t entry) {
    const auto block = history_.block_at(address, entry);
    if (block && (!block->freed || *block->freed > entry)) return block_words(*block, address);
    return places_.object(address);
  }
  std::string block_words(const AccessHistory::Block& block, std::uint64_t address) {
    const std::uint64_t pc = history_[block.allocated].what.pc;
    const std::string where = places_.in_program(pc) ? fmt::format(" from {}", places_.code(pc)) : "";
    const std::uint64_t offset = address - block.address;
    const std::string part = offset == 0 ? "" : fmt::format("byte {} of ", offset);
    return fmt::format("{}the block of {} bytes{}", part, block.bytes, where);
  }

  const std::string& recording_;
  mutable ProgramCode code_;
  AccessHistory history_;
  const RunEnd& end_;
  Places& places_;
  StepRecorder::Clock::time_point deadline_;
  std::optional<StepRecorder> recorder_;
  ExecutedPart part_;
  std::size_t part_start_ = kNoEntry;
  std::map<std::uint64_t, std::size_t> read_entry_;  // by event
  ValueWay way_ = {{}, {}, ""};
};

}  // namespace

ValueWay find_value_way(const std::string& recording, const std::string& trace, const RunEnd& end, Places& places,
                        std::chrono::steady_clock::time_point deadline) {
  ValueWay way;
  try {
    const TraceReader reader(trace);
    return WayFinder(recording, reader, end, places, deadline).find();
  } catch (const BadInput& error) {
    way.end = error.what();
  } catch (const SystemError& error) {
    way.end = error.what();
  }
  return way;
}

}  // namespace reweave
