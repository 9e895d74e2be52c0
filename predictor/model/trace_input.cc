#include "predictor/model/trace_input.h"

#include <algorithm>
#include <array>
#include <future>
#include <string_view>

#include "formats/base/fd_stream.h"
#include "formats/code/access_code.h"
#include "formats/code/read_effects.h"
#include "predictor/model/text_stream.h"
#include "predictor/model/trace_builder.h"

namespace reweave {
namespace {

constexpr std::uint64_t kProgressEvents = 1u << 20;
constexpr std::size_t kPiece = 1u << 15, kTextChunk = 1u << 16;

// True if the first line that is not blank looks like thread|op|location.
bool looks_like_std(const std::string& path) {
  if (path.ends_with(".std") || path.ends_with(".std.gz") || path.ends_with(".std.zst")) return true;
  FdInput in(open_regular(path));
  std::array<char, 512> head{};
  in.read(head.data(), head.size());
  std::string_view text(head.data(), static_cast<std::size_t>(in.gcount()));
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == text.npos) return false;
  text = text.substr(start, text.find('\n', start) - start);
  const bool is_text = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' || c == '\r' || c == '\t'; });
  return is_text && std::count(text.begin(), text.end(), '|') == 2;
}

}  // namespace

TraceInput::TraceInput(const std::string& path, const std::string& name)
    : path_(path), name_(name.empty() ? path : name) {
  REQUIRE(!is_folder(path), "{} is a recording; 'reweave trace {}' makes a trace of it", path, path);
  if (looks_like_std(path)) return;
  reader_ = std::make_unique<TraceReader>(path);
  addresses_ = ProcessAddresses(*reader_);
}

void TraceInput::read(const std::function<void()>& reading) {
  try {
    reading();
    if (reader_ && reader_->damage()) damage_ = {reader_->damage()->what(), reader_->damage()->exit_code()};
  } catch (const BadFile& bad) {
    damage_ = {bad.what(), bad.exit_code()};
  } catch (const StdFormatError& bad) {
    throw BadInput(path_ + ": " + bad.what());
  } catch (const StopReading& stopped) {
    damage_ = {stopped.reason, kExitTruncated};
  }
}

TraceModel TraceInput::load(const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  TraceBuilder builder;
  std::optional<AccessCode> code;
  std::optional<ReadEffects> effects;
  if (reader_) {
    for (const CallInfo& call : reader_->calls()) builder.add_call(call.parent, call.site);
    code.emplace(*reader_);
    effects.emplace(*reader_);
    reads_ = effects->counts();
  }
  const auto& processes = addresses_.processes();
  for (std::size_t t = 0; t < processes.size(); ++t) builder.add_thread(static_cast<ThreadId>(t), processes[t]);
  const std::uint64_t all = reader_ ? reader_->info().events : 0;
  read([&] {
    each(~std::uint64_t{0}, [&](std::uint64_t number, const TraceEvent& given, std::uint32_t site) {
      if (!builder.has_room() || number >= kNone)
        throw StopReading{"the trace is too long to analyse; record a shorter run"};
      TraceEvent event = addresses_.told_apart(given);
      if (code) event.aux |= code_bits(*code, *effects, site, event.kind, event.extra);
      if (event.kind == EventKind::kRead) {
        ++reads_.events;
        reads_.free_events += (event.aux & kOnlyData) != 0 ? 1 : 0;
      }
      builder.add(event, site);
      events_ = number + 1;
      if (events_ % kProgressEvents == 0) progress(events_, all);
    });
  });
  const auto& said = std_names_.processes();
  for (std::size_t t = 0; t < said.size(); ++t) builder.add_thread(static_cast<ThreadId>(t), said[t]);
  return builder.finish();
}

void TraceInput::stream(const std::function<void(const TraceChunk&)>& take,
                        const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  read([&] {
    if (reader_)
      stream_file(take, progress);
    else
      stream_text(take, progress);
  });
}

void TraceInput::stream_file(const std::function<void(const TraceChunk&)>& take,
                             const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  // One piece is analysed while the other is filled. They are small and reused, because new memory costs as much as
  // decoding.
  std::array<TraceChunk, 2> pieces;
  TracePieces reader(*reader_, kPiece);
  const auto fill = [&](TraceChunk* piece) {
    if (!reader.next(*piece)) return false;
    tell_apart(*piece);
    return true;
  };
  std::size_t now = 0;
  std::future<bool> filled = std::async(std::launch::async, fill, &pieces[now]);
  while (filled.get()) {
    const TraceChunk& piece = pieces[now];
    now ^= 1;
    filled = std::async(std::launch::async, fill, &pieces[now]);
    take(piece);
    events_ = piece.first_event + piece.size();
    progress(events_, reader_->info().events);
  }
}

void TraceInput::tell_apart(TraceChunk& chunk) const {
  if (!addresses_.several()) return;
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    if (addresses_.process_of(chunk.thread[i]) == 0) continue;
    const TraceEvent event = addresses_.told_apart(chunk.event(i, 0));
    chunk.address[i] = event.address;
    chunk.extra[i] = event.extra;
  }
}

void TraceInput::stream_text(const std::function<void(const TraceChunk&)>& take,
                             const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  TraceChunk chunk;
  const auto hand_over = [&] {
    take(chunk);
    chunk.first_event = events_;
    chunk.resize(0);
    progress(events_, 0);
  };
  each_of_text(~std::uint64_t{0}, [&](std::uint64_t number, const TraceEvent& event, std::uint32_t site) {
    chunk.thread.push_back(event.thread);
    chunk.kind.push_back(event.kind);
    chunk.aux.push_back(event.aux);
    chunk.site.push_back(site);
    chunk.address.push_back(event.address);
    chunk.extra.push_back(event.extra);
    chunk.value.push_back(0);
    chunk.has_value.push_back(0);
    events_ = number + 1;
    if (chunk.size() == kTextChunk) hand_over();
  });
  hand_over();
}

void TraceInput::each(std::uint64_t count, const Visit& visit) {
  if (reader_)
    each_of_file(count, visit);
  else
    each_of_text(count, visit);
}

void TraceInput::each_of_file(std::uint64_t count, const Visit& visit) {
  TraceChunk chunk;
  for (std::size_t c = 0; c < reader_->chunk_count(); ++c) {
    if (reader_->chunk_place(c).first_event >= count) return;
    reader_->read_chunk(c, chunk);
    const std::size_t size = std::min<std::uint64_t>(chunk.size(), count - chunk.first_event);
    for (std::size_t i = 0; i < size; ++i) {
      visit(chunk.first_event + i, chunk.event(i, 0), chunk.site[i]);
    }
  }
}

void TraceInput::each_of_text(std::uint64_t count, const Visit& visit) {
  const auto in = open_text(path_);
  std::uint64_t number = 0;
  read_std(*in, std_names_, [&](const TraceEvent& event, std::uint32_t site) {
    if (number < count) visit(number++, event, site);
  });
}

}  // namespace reweave
