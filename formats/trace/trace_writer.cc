#include "formats/trace/trace_writer.h"

#include <sys/mman.h>

#include <string_view>

#include "formats/base/message.h"
#include "formats/elf/elf_file.h"

namespace reweave {
namespace {

// The text that follows a record's fixed part.
template <typename Fixed>
std::string text_behind(const wire::RecordHeader* record) {
  const char* text = reinterpret_cast<const char*>(record) + sizeof(Fixed);
  const std::string_view tail(text, record->bytes - sizeof(Fixed));
  return std::string(tail.substr(0, tail.find('\0')));
}

}  // namespace

TraceWriter::TraceWriter(const std::string& path, const TraceHeader& header, int zstd_level)
    : file_(path, FileType::kTrace, zstd_level), encoder_(names_), files_(RecordedFiles::of_source(header.source)) {
  capnp::MallocMessageBuilder message;
  auto head = message.initRoot<schema::TraceHead>();
  head.setToolVersion(header.tool_version);
  head.setSource(header.source);
  auto words = head.initCommandLine(static_cast<unsigned>(header.command_line.size()));
  for (unsigned i = 0; i < words.size(); ++i) words.set(i, header.command_line[i]);
  write_message(file_, BlockType::kTraceHead, message);
}

void TraceWriter::append_record(const wire::RecordHeader* record) {
  const auto kind = static_cast<wire::RecordKind>(record->kind);
  if (kind == wire::RecordKind::kModule && record->bytes >= sizeof(wire::ModuleRecord)) {
    add_module(wire::record_cast<wire::ModuleRecord>(*record), text_behind<wire::ModuleRecord>(record));
  } else if (kind == wire::RecordKind::kMapFile && record->bytes >= sizeof(wire::MapFileRecord)) {
    add_mapping(wire::record_cast<wire::MapFileRecord>(*record), text_behind<wire::MapFileRecord>(record));
  } else if (kind == wire::RecordKind::kSpawn && record->bytes >= sizeof(wire::SpawnRecord)) {
    names_.add_spawn(wire::record_cast<wire::SpawnRecord>(*record));
  } else if (kind == wire::RecordKind::kExec) {
    if (names_.add_exec(record->thread)) encoder_.forget_sites();
  }
}

void TraceWriter::add_module(const wire::ModuleRecord& module, std::string path) {
  std::string build_id = build_id_of(files_.open(path));
  if (names_.add_module(module, std::move(path), std::move(build_id))) encoder_.forget_sites();
}

// Code mapped from an ELF file becomes a module, even if no record announces it as one, as for the loader or a plain
// program.
void TraceWriter::add_mapping(const wire::MapFileRecord& mapping, std::string path) {
  wire::ModuleRecord module{mapping.header, 0, mapping.address, mapping.address + mapping.length};
  if ((mapping.prot & PROT_EXEC) == 0 || mapping.address == 0) return;
  if (find_load_base(files_.open(path), mapping.offset, mapping.address, module.base))
    add_module(module, std::move(path));
}

void TraceWriter::flush() {
  if (encoder_.count() != 0) write_chunk();
}

void TraceWriter::write_chunk() {
  if (names_.has_new()) names_offsets_.push_back(names_.write(file_));
  const std::uint32_t count = encoder_.count();
  capnp::MallocMessageBuilder message(static_cast<unsigned>(encoder_.column_bytes() / 8 + 1024));
  auto chunk = message.initRoot<schema::TraceChunk>();
  chunk.setFirstEvent(events_in_chunks_);
  encoder_.emit(chunk);
  const std::uint64_t offset = write_message(file_, BlockType::kTraceChunk, message);
  chunks_.push_back({offset, events_in_chunks_, count});
  events_in_chunks_ += count;
}

void TraceWriter::finish() {
  flush();
  if (names_.has_new()) names_offsets_.push_back(names_.write(file_));
  write_footer();
}

void TraceWriter::write_footer() {
  capnp::MallocMessageBuilder message;
  auto foot = message.initRoot<schema::TraceFoot>();
  foot.setEvents(events_in_chunks_);
  auto chunks = foot.initChunks(static_cast<unsigned>(chunks_.size()));
  for (unsigned i = 0; i < chunks.size(); ++i) {
    chunks[i].setOffset(chunks_[i].offset);
    chunks[i].setFirstEvent(chunks_[i].first_event);
    chunks[i].setCount(chunks_[i].count);
  }
  auto names = foot.initNames(static_cast<unsigned>(names_offsets_.size()));
  for (unsigned i = 0; i < names.size(); ++i) names.set(i, names_offsets_[i]);
  const std::uint64_t offset = write_message(file_, BlockType::kTraceFoot, message);
  file_.finish(offset);
}

}  // namespace reweave
