// Encode and decode rates of recordings and traces, and what an event costs on disk.
//   ninja -C build tests/formats/bench_formats && build/tests/formats/bench_formats
#include <benchmark/benchmark.h>

#include <map>

#include "formats/recording/recording_reader.h"
#include "formats/recording/recording_writer.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "tests/formats/events.h"
#include "tests/formats/records.h"
#include "tests/formats/scratch.h"

namespace reweave {
namespace {

constexpr std::size_t kRecords = 300'000;
constexpr std::size_t kEvents = 4'000'000;

struct CallStream {
  std::vector<test::Record> records;
};

// Contexts that never recur are the worst case: 8 random bytes a call.
void make_contexts_unique(std::vector<test::Record>& records) {
  std::mt19937_64 random(1);
  for (test::Record& record : records)
    if (test::header_of(record)->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall))
      reinterpret_cast<wire::SyscallRecord*>(record.data())->context = random();
}

// Returns a realistic stream with `payload` bytes per read. -1: no payload, and contexts that never recur.
const CallStream& calls(std::int64_t payload) {
  static std::map<std::int64_t, CallStream> streams;
  CallStream& stream = streams[payload];
  if (!stream.records.empty()) return stream;
  const bool unique = payload < 0;
  stream.records = test::realistic_stream(kRecords, 1, unique ? 0 : static_cast<std::size_t>(payload));
  if (unique) make_contexts_unique(stream.records);
  return stream;
}

void write_recording(const std::string& path, const CallStream& stream, benchmark::State* state) {
  RecordingWriter writer(path, {});
  for (const auto& record : stream.records) writer.append(test::header_of(record));
  writer.finish({});
  if (state == nullptr) return;
  state->counters["bytes/record"] = static_cast<double>(writer.bytes_written()) / kRecords;
}

void encode_recording(benchmark::State& state) {
  const CallStream& stream = calls(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    auto scratch = std::make_unique<test::Scratch>();
    state.ResumeTiming();
    write_recording(*scratch / "r", stream, &state);
    state.PauseTiming();
    scratch.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kRecords));
}
BENCHMARK(encode_recording)->Arg(-1)->Arg(0)->Arg(64)->Arg(4096)->Unit(benchmark::kMillisecond);

void decode_recording(benchmark::State& state) {
  test::Scratch scratch;
  write_recording(scratch / "r", calls(state.range(0)), nullptr);
  for (auto _ : state) {
    RecordingReader reader(scratch / "r");
    while (const wire::RecordHeader* record = reader.next()) benchmark::DoNotOptimize(record);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kRecords));
}
BENCHMARK(decode_recording)->Arg(-1)->Arg(0)->Arg(64)->Arg(4096)->Unit(benchmark::kMillisecond);

// Returns a stream of packed events. `which`: 0: loops, 1: irregular, 2: random in every field.
const test::PackedEvents& events(std::int64_t which) {
  static const test::PackedEvents kStreams[] = {test::loop_events(kEvents, 1), test::irregular_events(kEvents, 1),
                                                test::random_events(kEvents / 4, 1)};
  return kStreams[which];
}

void write_trace(const std::string& path, const test::PackedEvents& stream, benchmark::State* state) {
  TraceWriter writer(path, {});
  const std::size_t count = stream.count();
  for (std::size_t i = 0; i < count; ++i) writer.append(stream[i]);
  writer.finish();
  if (state == nullptr) return;
  state->counters["bytes/event"] = static_cast<double>(writer.bytes_written()) / static_cast<double>(count);
}

void encode_trace(benchmark::State& state) {
  const test::PackedEvents& stream = events(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    auto scratch = std::make_unique<test::Scratch>();
    state.ResumeTiming();
    write_trace(*scratch / "t", stream, &state);
    state.PauseTiming();
    scratch.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(stream.count()));
}
BENCHMARK(encode_trace)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

void decode_trace(benchmark::State& state) {
  test::Scratch scratch;
  write_trace(scratch / "t", events(state.range(0)), nullptr);
  TraceChunk chunk;
  for (auto _ : state) {
    TraceReader reader(scratch / "t");
    while (reader.next(chunk)) benchmark::DoNotOptimize(chunk.address.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(events(state.range(0)).count()));
}
BENCHMARK(decode_trace)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace reweave

BENCHMARK_MAIN();
