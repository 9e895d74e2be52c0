#include "tests/formats/records.h"

namespace reweave::test {

using wire::RecordKind;

std::vector<Record> one_of_each() {
  std::vector<Record> records;
  records.push_back(make_record(RecordKind::kSpawn, 0, wire::SpawnRecord{{}, 0, 0, 0, 4711, 0}));
  records.push_back(make_record(RecordKind::kExec, 0, wire::ExecRecord{{}, 0, 0}, text_tail("/bin/true")));
  records.push_back(
      make_record(RecordKind::kModule, 0, wire::ModuleRecord{{}, 0x1000, 0x1000, 0x5000}, text_tail("/lib/libc.so.6")));
  records.push_back(make_record(RecordKind::kMapFile, 0,
                                wire::MapFileRecord{{}, 0x7000, 4096, 0, 2049, 17, 12345, -1, 5, 2},
                                text_tail("/tmp/data file")));
  records.push_back(make_record(RecordKind::kSpawn, 0, wire::SpawnRecord{{}, 1, 0, 1, 4712, 3}));
  records.push_back(make_record(RecordKind::kSwitch, 0, wire::SwitchRecord{{}, 7, 1, 2, 1, 0}));
  records.push_back(make_record(RecordKind::kSwitch, 1, wire::SwitchRecord{{}, ~0ull, 0, 255, 9, 77}));
  records.push_back(make_call(1, 0, 5, 8, 0xfeedface, {3, 0x1000, 4096}, output_tail(0x1000, "hello")));
  records.push_back(make_call(1, 0, -9, 9, 0xfeedface, {~0ull, 0x1000, 4096}));
  records.push_back(make_call(1, 7, 2, 10, 1, {0x2000, 2}, output_tail(0x2000, "12345678") + output_tail(0x9, "")));
  // A tail that is no output chunk, and one whose padding is not zero.
  records.push_back(make_call(1, 1, 0, 11, 2, {}, "12345678"));
  std::string dirty = output_tail(0x3000, "abc");
  dirty.back() = 'x';
  records.push_back(make_call(1, 1, 3, 12, 2, {}, dirty));
  wire::SignalRecord signal{};
  signal.number = 11;
  std::memset(signal.info, 0xab, sizeof signal.info);
  records.push_back(make_record(RecordKind::kSignal, 1, signal));
  records.push_back(make_record(RecordKind::kInput, 1, wire::InputRecord{{}, 2, 0, {1, 2, 3, ~0ull}}));
  records.push_back(make_record(RecordKind::kChecksum, 1, wire::ChecksumRecord{{}, 1, 2}));
  records.push_back(make_record(RecordKind::kPatch, 1, wire::PatchRecord{{}, 0x7fff'0000'1234}));
  records.push_back(make_record(RecordKind::kClock, 1, wire::ClockRecord{{}, 13, 12'345'999'999'999, 0xfeed, 1}));
  records.push_back(make_record(RecordKind::kClock, 1, wire::ClockRecord{{}, 14, 12'346'000'000'000, 0xfeed, 1}));
  records.push_back(make_record(RecordKind::kClock, 1, wire::ClockRecord{{}, 1, -1, ~0u, ~0u}));
  records.push_back(make_record(RecordKind::kMapCode, 1, wire::MapCodeRecord{{}, 0x70ff'0000'0000, 2, 0}, "offsets!"));
  records.push_back(make_record(RecordKind::kThreadExit, 1, wire::ThreadExitRecord{{}, 12}));
  records.push_back(make_record(RecordKind::kProcessExit, 65535, wire::ProcessExitRecord{{}, 0, 139}));
  records.push_back(make_record(RecordKind::kOutcome, 0, wire::OutcomeRecord{{}, 3, -1, 99}, text_tail("A waits B")));
  return records;
}

namespace {

std::string random_text(std::mt19937_64& random, std::size_t bytes) {
  static constexpr std::string_view kWords = "the quick brown fox jumps over the lazy dog 0123456789 ";
  std::string text;
  while (text.size() < bytes) text += kWords.substr(random() % 40, 3 + random() % 12);
  text.resize(bytes);
  return text;
}

struct ThreadModel {
  std::uint64_t buffer;
  std::uint64_t offset;
  std::uint64_t sum;
};

}  // namespace

std::vector<Record> realistic_stream(std::size_t count, std::uint64_t seed, std::size_t payload) {
  std::mt19937_64 random(seed);
  std::vector<ThreadModel> threads(8);
  for (std::size_t i = 0; i < threads.size(); ++i) threads[i] = {0x7f0000000000 + i * 0x800000, 0, 0};
  std::vector<Record> records;
  std::uint64_t step = 1;
  ThreadId now = 0;
  while (records.size() < count) {
    ThreadModel& thread = threads[now];
    const std::uint64_t place = 0x1000 * now;  // the stack differs by thread, so the contexts do
    records.push_back(make_call(now, 17, static_cast<std::int64_t>(payload), ++step, (place + 1) * 0x9e3779b97f4a7c15,
                                {3, thread.buffer, payload, thread.offset},
                                output_tail(thread.buffer, random_text(random, payload))));
    thread.offset += payload;
    records.push_back(make_call(now, 202, 0, ++step, (place + 2) * 0x9e3779b97f4a7c15, {0x601040, 129, 1, 0, 0, 0}));
    if (random() % 4 == 0)
      records.push_back(make_call(now, 202, -11, ++step, (place + 3) * 0x9e3779b97f4a7c15, {0x601080, 128, 2}));
    if (random() % 3 == 0) {
      const auto to = static_cast<ThreadId>(random() % threads.size());
      if (to == now) continue;
      records.push_back(make_record(RecordKind::kSwitch, now, wire::SwitchRecord{{}, ++step, to, 1, 0, 0}));
      now = to;
    }
    if (random() % 1000 == 0)
      records.push_back(make_record(RecordKind::kSignal, now, wire::SignalRecord{{}, step, 14, 1, {}}));
  }
  records.resize(count);
  return records;
}

std::vector<Record> random_stream(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto value = [&] { return random() >> random() % 64; };
  std::vector<Record> records;
  while (records.size() < count) {
    const auto thread = static_cast<ThreadId>(random() % 4 == 0 ? random() : random() % 3);
    switch (random() % 5) {
      case 0:
        records.push_back(
            make_record(RecordKind::kSwitch, thread,
                        wire::SwitchRecord{
                            {}, value(), static_cast<ThreadId>(random()), static_cast<std::uint8_t>(random()), 0, 0}));
        break;
      case 1: {
        Record raw(1 + random() % 20);
        for (auto& word : raw) word = value();
        const wire::RecordHeader header{static_cast<std::uint16_t>(1 + random() % 31), thread,
                                        static_cast<std::uint32_t>(raw.size() * 8)};
        std::memcpy(raw.data(), &header, sizeof header);
        records.push_back(std::move(raw));
        break;
      }
      case 2:
        records.push_back(make_record(RecordKind::kClock, thread,
                                      wire::ClockRecord{{},
                                                        value(),
                                                        static_cast<std::int64_t>(value()),
                                                        static_cast<std::uint32_t>(value()),
                                                        static_cast<std::uint32_t>(random() % 20)}));
        break;
      default: {
        std::string tail;
        for (auto outputs = random() % 3; outputs > 0; --outputs)
          tail += output_tail(value(), random_text(random, random() % 50));
        records.push_back(make_call(thread, static_cast<std::uint32_t>(value()), static_cast<std::int64_t>(value()),
                                    value(), random() % 20, {value(), value(), value(), value(), value(), value()},
                                    tail));
      }
    }
  }
  // Only a RecordingWriter can store output apart.
  for (Record& record : records) {
    auto& call = *reinterpret_cast<wire::SyscallRecord*>(record.data());
    const bool is_call = call.header.kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall);
    if (is_call && call.header.bytes >= sizeof call) call.flags &= ~wire::kOutputApart;
  }
  return records;
}

}  // namespace reweave::test
