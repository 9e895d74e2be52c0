#include <algorithm>
#include <csignal>
#include <cstring>

#include "formats/recording/call_names.h"
#include "formats/trace/dump.h"

namespace reweave {
namespace {

using wire::RecordKind;

// The bytes after a record's fixed part.
template <typename Fixed>
std::string_view tail_of(const Fixed& record) {
  return {reinterpret_cast<const char*>(&record) + sizeof record, record.header.bytes - sizeof record};
}

template <typename Fixed>
std::string text_of(const Fixed& record) {
  const std::string_view tail = tail_of(record);
  return escaped(tail.substr(0, tail.find('\0')));
}

template <typename Value, std::size_t count>
std::string named(const char* const (&names)[count], Value value) {
  const auto index = static_cast<std::size_t>(value);
  return index < count ? names[index] : fmt::format("?{}", index);
}

std::string describe(const wire::SwitchRecord& record, const DumpOptions&) {
  static constexpr const char* kReasons[] = {"preempted", "blocked", "in kernel", "exited", "yielded"};
  static constexpr const char* kEnds[] = {"", ", timed out", ", interrupted by a signal"};
  return fmt::format("switch to t{}, {}, step {}{}", record.to, named(kReasons, record.reason), record.step,
                     named(kEnds, record.timed_out));
}

// Describes the names that a call was logged with, and removes them from the front of its outputs.
std::string describe_names(const wire::SyscallRecord& call, std::string_view& tail) {
  const std::optional<CallNames> names = names_in(call);
  if (!names) return " [malformed names]";
  tail.remove_prefix(names->bytes);
  std::string text;
  for (const std::string_view name : names->names) text += fmt::format(" \"{}\"", escaped(name));
  return text;
}

std::string describe_outputs(std::string_view tail, std::size_t shown) {
  std::string text;
  while (tail.size() >= sizeof(wire::OutputChunk)) {
    wire::OutputChunk chunk;
    std::memcpy(&chunk, tail.data(), sizeof chunk);
    tail.remove_prefix(sizeof chunk);
    if (chunk.bytes > tail.size()) return text + " [malformed output]";
    text += fmt::format(" [{} bytes at {:#x}", chunk.bytes, chunk.address);
    if (shown > 0) text += fmt::format(": \"{}\"", escaped(tail.substr(0, std::min<std::size_t>(chunk.bytes, shown))));
    text += ']';
    tail.remove_prefix(std::min<std::size_t>((chunk.bytes + 7) / 8 * 8, tail.size()));
  }
  return text;
}

std::string describe(const wire::SyscallRecord& call, const DumpOptions& options) {
  const std::string name = options.call_name ? options.call_name(call.number) : fmt::format("call {}", call.number);
  std::string text = fmt::format("call {}({:#x}, {:#x}, {:#x}, {:#x}, {:#x}, {:#x}) = ", name, call.args[0],
                                 call.args[1], call.args[2], call.args[3], call.args[4], call.args[5]);
  if (call.result < 0 && call.result > -4096) {
    text += fmt::format("{} ({})", call.result,
                        ::strerrorname_np(static_cast<int>(-call.result)) != nullptr
                            ? ::strerrorname_np(static_cast<int>(-call.result))
                            : "?");
  } else {
    // Addresses are easier to recognise in hexadecimal.
    text += call.result > 0xffffffff ? fmt::format("{:#x}", call.result) : fmt::format("{}", call.result);
  }
  text += fmt::format(" step {} context {:016x}", call.step, call.context);
  if (call.flags != 0) text += fmt::format(" flags {:#x}", call.flags);
  std::string_view tail = tail_of(call);
  if ((call.flags & wire::kNamesFiles) != 0) text += describe_names(call, tail);
  return text + describe_outputs(tail, options.payload_bytes);
}

std::string describe(const wire::SignalRecord& record, const DumpOptions&) {
  if (record.flags != 0) return fmt::format("signal {}, asynchronous, step {}", record.number, record.step);
  siginfo_t info;
  static_assert(sizeof info == sizeof record.info);
  std::memcpy(&info, record.info, sizeof info);
  return fmt::format("signal {}, synchronous, code {}, address {}, step {}", record.number, info.si_code,
                     fmt::ptr(info.si_addr), record.step);
}

std::string describe(const wire::MapFileRecord& record, const DumpOptions&) {
  return fmt::format("map {} at {:#x}+{:#x} from offset {:#x}, prot {:#x}, flags {:#x}", text_of(record),
                     record.address, record.length, record.offset, record.prot, record.flags);
}

std::string describe(const wire::SpawnRecord& record, const DumpOptions&) {
  static constexpr const char* kKinds[] = {"first", "thread", "process", "vfork"};
  const std::string within = record.inner_tid == 0 ? "" : fmt::format(" ({} within)", record.inner_tid);
  return fmt::format("spawn t{}, {}, process {}, tid {}{}", record.child, named(kKinds, record.kind), record.process,
                     record.tid, within);
}

std::string describe(const wire::ExecRecord& record, const DumpOptions&) {
  return fmt::format("exec {}, process {}", text_of(record), record.process);
}

std::string describe(const wire::ThreadExitRecord& record, const DumpOptions&) {
  return fmt::format("thread exit, step {}", record.step);
}

std::string describe(const wire::ProcessExitRecord& record, const DumpOptions&) {
  return fmt::format("process {} exit, wait status {:#x}", record.process, record.wait_status);
}

std::string describe(const wire::OutcomeRecord& record, const DumpOptions&) {
  return fmt::format("outcome {}, detail {}, step {}: {}", name_of(static_cast<wire::OutcomeKind>(record.outcome)),
                     record.detail, record.step, text_of(record));
}

std::string describe(const wire::InputRecord& record, const DumpOptions&) {
  static constexpr const char* kSources[] = {
      "rdtsc", "rdtscp", "cpuid", "rdrand", "rdseed", "rdpid", "cpuid is recorded", "xgetbv", "chosen"};
  return fmt::format("input {}: {:#x} {:#x} {:#x} {:#x}", named(kSources, record.source), record.values[0],
                     record.values[1], record.values[2], record.values[3]);
}

std::string describe(const wire::ChecksumRecord& record, const DumpOptions&) {
  return fmt::format("checksum registers {:016x} memory {:016x}", record.registers, record.memory);
}

std::string describe(const wire::ModuleRecord& record, const DumpOptions&) {
  return fmt::format("module {} at {:#x}..{:#x}, base {:#x}", text_of(record), record.start, record.end, record.base);
}

std::string describe(const wire::PreemptRecord& record, const DumpOptions&) {
  const bool computes = (record.varying & wire::kComputes) != 0;
  const char* where = computes                                    ? ", computing"
                      : wire::varying_of(record) == wire::kRecurs ? ", in a loop that changes nothing"
                      : wire::varying_of(record) != 0 || record.header.bytes > sizeof record ? ", in a loop"
                                                                                             : "";
  std::string text = fmt::format("preempted at ip {:#x}, step {}, registers {:016x} stack {:016x}{}", record.ip,
                                 record.step, record.registers, record.stack, where);
  std::string_view tail = tail_of(record);
  wire::NamedWord word;
  std::uint64_t words = computes ? wire::varying_of(record) & ~wire::kComputes : tail.size() / sizeof word;
  for (; words > 0 && tail.size() >= sizeof word; words--, tail.remove_prefix(sizeof word)) {
    std::memcpy(&word, tail.data(), sizeof word);
    text += fmt::format(" [{:#x}: {:#x}]", word.address, word.value);
  }
  if (!computes || tail.size() < sizeof(wire::PageHashes)) return text;
  return text + fmt::format(", {} pages", (tail.size() - sizeof(wire::PageHashes)) / 2);
}

std::string describe(const wire::PatchRecord& record, const DumpOptions&) {
  if ((record.address & wire::kPatchedLoop) != 0)
    return fmt::format("counts at {:#x} from here on", record.address & ~wire::kPatchedLoop);
  const bool pause = (record.address & wire::kPatchedPause) != 0;
  return fmt::format("patched the {} before {:#x}", pause ? "pause" : "instruction",
                     record.address & ~wire::kPatchedPause);
}

std::string describe(const wire::ClockRecord& record, const DumpOptions&) {
  const std::string call =
      record.clock == wire::kTimeOfDay ? "gettimeofday" : fmt::format("clock_gettime {}", record.clock);
  return fmt::format("{} = {} ns, step {} context {:08x}", call, record.time, record.step, record.context);
}

std::string describe(const wire::MapCodeRecord& record, const DumpOptions&) {
  return fmt::format("code at {:#x}, {} places", record.start, record.count);
}

using Describe = std::string (*)(const wire::RecordHeader*, const DumpOptions&);

template <typename Fixed>
std::string describe_as(const wire::RecordHeader* record, const DumpOptions& options) {
  if (record->bytes < sizeof(Fixed)) return fmt::format("malformed record of kind {}", record->kind);
  return describe(*reinterpret_cast<const Fixed*>(record), options);
}

// By RecordKind.
constexpr Describe kDescribe[] = {
    nullptr,
    describe_as<wire::SwitchRecord>,
    describe_as<wire::SyscallRecord>,
    describe_as<wire::SignalRecord>,
    describe_as<wire::MapFileRecord>,
    describe_as<wire::SpawnRecord>,
    describe_as<wire::ExecRecord>,
    describe_as<wire::ThreadExitRecord>,
    describe_as<wire::ProcessExitRecord>,
    describe_as<wire::OutcomeRecord>,
    describe_as<wire::InputRecord>,
    describe_as<wire::ChecksumRecord>,
    describe_as<wire::ModuleRecord>,
    describe_as<wire::PreemptRecord>,
    describe_as<wire::PatchRecord>,
    describe_as<wire::ClockRecord>,
    describe_as<wire::MapCodeRecord>,
};
static_assert(std::size(kDescribe) == static_cast<std::size_t>(RecordKind::kMapCode) + 1);

}  // namespace

std::string describe_record(const wire::RecordHeader* record, const DumpOptions& options) {
  const bool known = record->kind != 0 && record->kind < std::size(kDescribe);
  return fmt::format("t{} {}", record->thread,
                     known ? kDescribe[record->kind](record, options)
                           : fmt::format("record of unknown kind {}, {} bytes", record->kind, record->bytes));
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c >= ' ' && c < 127 && c != '\\' && c != '"')
      safe += c;
    else
      safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return safe;
}

void DumpChoice::check(const std::string& path) const {
  REQUIRE(options_.first < options_.end, "--first {} --end {} leaves nothing to show", options_.first, options_.end);
  REQUIRE(thread_seen_ || total_ == 0, "{} has no thread {}", path, options_.thread);
  REQUIRE(options_.first == 0 || options_.first < total_, "{} has only {} events", path, total_);
}

void dump_recording(RecordingReader& reader, std::FILE* out, const DumpOptions& options) {
  DumpChoice choice(options);
  while (const wire::RecordHeader* record = choice.is_done() ? nullptr : reader.next()) {
    const std::uint64_t index = reader.position() - 1;
    if (choice.take(index, record->thread)) fmt::print(out, "{} {}\n", index, describe_record(record, options));
  }
  if (reader.truncated()) throw BadFile(reader.truncation());
  choice.check(reader.path());
}

}  // namespace reweave
