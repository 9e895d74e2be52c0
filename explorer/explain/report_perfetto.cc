#include "explorer/explain/report_perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <protozero/pbf_builder.hpp>
#include <vector>

#include "explorer/explain/report_sentences.h"
#include "explorer/explain/report_steps.h"
#include "explorer/words/escaping.h"
#include "formats/elf/source_lines.h"

namespace reweave {

using nlohmann::json;

namespace {

// The numbers of the fields, as Perfetto publishes them.
enum class TraceField : protozero::pbf_tag_type { kPacket = 1 };
enum class PacketField : protozero::pbf_tag_type {
  kTimestamp = 8,  // nanoseconds
  kSequence = 10,
  kTrackEvent = 11,
  kTrackDescriptor = 60,
};
enum class TrackField : protozero::pbf_tag_type { kUuid = 1, kProcess = 3, kThread = 4, kParent = 5 };
enum class ProcessField : protozero::pbf_tag_type { kPid = 1, kName = 6 };
enum class ThreadField : protozero::pbf_tag_type { kPid = 1, kTid = 2, kName = 5 };
enum class EventField : protozero::pbf_tag_type {
  kAnnotation = 4,
  kType = 9,
  kTrackUuid = 11,
  kCategory = 22,
  kName = 23,
  kFlow = 47,
};
enum class AnnotationField : protozero::pbf_tag_type { kUint = 3, kString = 6, kName = 10 };
enum EventType : std::int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3 };

// A step of the report, without the names that differ between its lists.
struct PerfettoStep {
  std::uint64_t thread, choice, number;
  auto operator<=>(const PerfettoStep&) const = default;
};

PerfettoStep perfetto_step(const json& step) {
  return {step.at("thread").get<std::uint64_t>(), step.at("choice").get<std::uint64_t>(),
          step.at("number").get<std::uint64_t>()};
}

// The flows that begin or end at a step of the failing run: one for each order of the cause.
std::multimap<PerfettoStep, std::uint64_t> arrows_of(const json& report) {
  std::multimap<PerfettoStep, std::uint64_t> flows;
  std::uint64_t number = 0;
  const auto add = [&](const json& order) {
    number++;
    for (const char* end : {"first", "then"})
      if (order.at(end).contains("choice")) flows.emplace(perfetto_step(order.at(end)), number);
  };
  for (const json& order : orders_together(report)) add(order);
  if (flows.empty() && !report.at("flips").empty()) add(report.at("flips").at(0));
  return flows;
}

class PerfettoWriter {
 public:
  std::string take() { return std::move(data_); }

  void begin_run(std::uint64_t pid, const char* name) {
    pid_ = pid;
    describe(pid_, [&](auto& track) {
      protozero::pbf_builder<ProcessField> process(track, TrackField::kProcess);
      process.add_int32(ProcessField::kPid, static_cast<std::int32_t>(pid));
      process.add_string(ProcessField::kName, name);
    });
  }

  void name_thread(std::uint64_t thread) {
    describe(track_of(thread), [&](auto& track) {
      track.add_uint64(TrackField::kParent, pid_);
      protozero::pbf_builder<ThreadField> about(track, TrackField::kThread);
      about.add_int32(ThreadField::kPid, static_cast<std::int32_t>(pid_));
      about.add_int32(ThreadField::kTid, static_cast<std::int32_t>(track_of(thread)));
      about.add_string(ThreadField::kName, fmt::format("thread {}", thread));
    });
  }

  // `more` adds further fields to the event.
  template <typename More>
  void event(std::uint64_t time, std::uint64_t thread, EventType type, const std::string& name, const More& more) {
    packet(time, [&](auto& packet) {
      protozero::pbf_builder<EventField> event(packet, PacketField::kTrackEvent);
      event.add_enum(EventField::kType, type);
      event.add_uint64(EventField::kTrackUuid, track_of(thread));
      if (!name.empty()) event.add_string(EventField::kName, plain_text(name));
      more(event);
    });
  }
  void event(std::uint64_t time, std::uint64_t thread, EventType type, const std::string& name = "") {
    event(time, thread, type, name, [](auto&) {});
  }

 private:
  static constexpr std::uint64_t kTracks = 1'000'000;  // of a run; more than there are threads

  std::uint64_t track_of(std::uint64_t thread) const { return pid_ * kTracks + thread; }

  template <typename Fill>
  void packet(std::uint64_t time, const Fill& fill) {
    protozero::pbf_builder<TraceField> trace(data_);
    protozero::pbf_builder<PacketField> packet(trace, TraceField::kPacket);
    packet.add_uint64(PacketField::kTimestamp, time);
    packet.add_uint32(PacketField::kSequence, 1);
    fill(packet);
  }

  template <typename Fill>
  void describe(std::uint64_t uuid, const Fill& fill) {
    packet(0, [&](auto& packet) {
      protozero::pbf_builder<TrackField> track(packet, PacketField::kTrackDescriptor);
      track.add_uint64(TrackField::kUuid, uuid);
      fill(track);
    });
  }

  std::string data_;
  std::uint64_t pid_ = 0;
};

void annotate(protozero::pbf_builder<EventField>& event, const char* name, const json& value) {
  protozero::pbf_builder<AnnotationField> note(event, EventField::kAnnotation);
  note.add_string(AnnotationField::kName, name);
  if (value.is_number())
    note.add_uint64(AnnotationField::kUint, value.get<std::uint64_t>());
  else
    note.add_string(AnnotationField::kString, plain_text(value.get<std::string>()));
}

// Writes the schedule's turns and steps. Returns the time of its end.
std::uint64_t write_schedule(const json& steps, const std::multimap<PerfettoStep, std::uint64_t>& flows,
                             PerfettoWriter& to) {
  constexpr std::uint64_t kStep = 1000, kWidth = 900;  // nanoseconds
  std::uint64_t end = 0;
  std::optional<std::uint64_t> running;  // the thread whose turn it is
  for (const json& step : steps) {
    const auto thread = step.at("thread").get<std::uint64_t>();
    const std::uint64_t time = std::max(end, step.at("choice").get<std::uint64_t>() * kStep);
    if (running != thread) {
      if (running) to.event(end, *running, kSliceEnd);
      to.event(time, thread, kSliceBegin, fmt::format("thread {} runs", thread));
      running = thread;
    }
    const std::string what = step.at("does").get<std::string>() + " " + step.at("object").get<std::string>();
    to.event(time, thread, kSliceBegin, what, [&](auto& event) {
      event.add_string(EventField::kCategory, "step");
      for (const char* name : {"place", "file", "line", "source", "number"})
        if (step.contains(name)) annotate(event, name, step.at(name));
      const auto [from, until] = flows.equal_range(perfetto_step(step));
      for (auto flow = from; flow != until; ++flow) event.add_fixed64(EventField::kFlow, flow->second);
    });
    to.event(time + kWidth, thread, kSliceEnd);
    end = time + kStep;
  }
  if (running) to.event(end, *running, kSliceEnd);
  return end;
}

void write_run(const json& schedule, std::uint64_t pid, const char* name,
               const std::multimap<PerfettoStep, std::uint64_t>& flows, const std::string& failure,
               PerfettoWriter& to) {
  const json& steps = schedule.at("steps");
  to.begin_run(pid, name);
  std::vector<std::uint64_t> threads;
  for (const json& step : steps) threads.push_back(step.at("thread").get<std::uint64_t>());
  std::ranges::sort(threads);
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  for (const std::uint64_t thread : threads) to.name_thread(thread);
  const std::uint64_t end = write_schedule(steps, flows, to);
  if (!failure.empty() && !steps.empty())
    to.event(end, steps.back().at("thread").get<std::uint64_t>(), kInstant, failure);
}

}  // namespace

std::string perfetto_report(const json& report) {
  PerfettoWriter writer;
  write_run(report.at("failing"), 1, "the failing run", arrows_of(report),
            first_line(report.at("failure").get<std::string>()), writer);
  if (!report.at("passing").is_null()) write_run(report.at("passing"), 2, "the nearest passing run", {}, "", writer);
  return writer.take();
}

}  // namespace reweave
