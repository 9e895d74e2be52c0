// GdbStub's questions about the past, which do not move the process, and its visits to the place of an answer.
#include "formats/base/error.h"
#include "replayer/live/stub_parts.h"

namespace reweave {

namespace {

constexpr std::uint64_t kMostBytes = 4096;  // the largest value in a question

std::string bytes_at(const TracedProcess& process, const TracedProcess::Watch& watch) {
  std::string value(watch.bytes, '\0');
  return process.read(watch.address, value.data(), value.size()) ? to_hex(value) : "";
}

std::uint64_t take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return take_hex(text);
}

}  // namespace

Position GdbStub::origin() {
  const bool dies = !process().ended() && !running_thread(process());
  const pid_t runner = dies ? selected_ : holder_of(process());
  if (process().ended() || (!dies && !process().in_runtime(process().registers(runner).rip))) {
    const pid_t selected = selected_;
    Position from = position();
    if (from.steps != 0) from = timeline_.position_of(process(), holder_of(process()));
    selected_ = selected;
    return from;
  }
  return {{process().core().progress().event, ~0ull}, index_of(process(), runner).value_or(0), 0, 1, 0};
}

// The found instant as JSON; remembers it for a visit. `old` and `new` are values of the watched memory.
std::string GdbStub::answer_found(Found found, const TracedProcess::Watch* watch) {
  if (found.at_begin) return R"({"found":false})";
  TracedProcess& there = found.place.process();
  const pid_t lwp = found.place.lwp;
  const Position where = found.place.position ? *found.place.position : timeline_.position_of(there, lwp);
  nlohmann::json answer = {{"found", true},  {"position", name_of(where)}, {"event", where.progress.event},
                           {"pc", where.pc}, {"thread", where.thread},     {"by_runtime", found.stop.late}};
  for (const CoreThread& thread : there.core().threads())
    if (thread.real_tid == lwp) answer["tid"] = thread.tid;
  answer_at_ = where;
  if (watch != nullptr) {
    answer["old"] = bytes_at(there, *watch);
    there.passes_all_signals = true;
    there.run({.thread = lwp, .step = true});
    answer["new"] = there.ended() ? "" : bytes_at(there, *watch);
  }
  return answer.dump();
}

// ADDRESS BYTES [before]: finds the last change of that memory; with `before`, the last one before the previous answer.
std::string GdbStub::last_change(std::string_view rest) {
  const std::uint64_t address = take_number(rest);
  const TracedProcess::Watch watch = {address, take_number(rest)};
  REQUIRE(watch.bytes > 0 && watch.bytes <= kMostBytes, "a value of 1 to {} bytes can be asked about", kMostBytes);
  const bool again = rest.find("before") != std::string_view::npos && answer_at_;
  Position from = again ? *answer_at_ : origin();
  if (from.steps != 0) {
    const Place place = timeline_.seek(from);
    from.steps = 0;
    from = timeline_.position_of(place.process(), place.lwp);
  }
  return answer_found(timeline_.back(from, {{}, {watch}, {}, {}}), &watch);
}

// POINTER FUNCTION...: finds the last call of one of the functions with the heap block that contains the pointer.
std::string GdbStub::last_release(std::string_view rest) {
  const std::uint64_t pointer = take_number(rest);
  Wanted wanted = {{}, {}, {}, pointer};
  while (const std::uint64_t function = take_number(rest)) wanted.breakpoints.insert(function);
  return answer_found(timeline_.back(origin(), wanted), nullptr);
}

// Shows gdb the place of the last answer, until `leave`.
std::string GdbStub::visit(std::string_view) {
  REQUIRE(answer_at_ && !parked_, "there is no answer to visit");
  Place place = timeline_.seek(*answer_at_);
  parked_ = Parked{std::move(here_), selected_, last_};
  adopt(std::move(place));
  last_ = {StopReason::kStepped, selected_, 0, 0};
  return name_of_thread(selected_);
}

std::string GdbStub::leave(std::string_view) {
  REQUIRE(parked_, "this is no visit");
  here_ = std::move(parked_->place);
  selected_ = parked_->selected;
  last_ = parked_->last;
  parked_.reset();
  return "ok";
}

std::optional<std::string> GdbStub::ask(std::string_view text) {
  static constexpr Handler kQuestions[] = {
      {"last-change ", &GdbStub::last_change},
      {"last-release ", &GdbStub::last_release},
      {"visit", &GdbStub::visit},
      {"leave", &GdbStub::leave},
  };
  for (const Handler& question : kQuestions) {
    if (text.substr(0, question.prefix.size()) != question.prefix) continue;
    try {
      return (this->*question.answer)(text.substr(question.prefix.size())) + "\n";
    } catch (const Error& error) {
      return nlohmann::json{{"error", error.what()}}.dump() + "\n";
    }
  }
  return {};
}

}  // namespace reweave
