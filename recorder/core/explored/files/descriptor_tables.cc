#include "recorder/core/explored/files/descriptor_tables.h"

#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/recorded/files.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kMostTables = 1024;

// By number. Null: the table of the start of the run.
IN_MODEL DescriptorTable* tables[kMostTables];
IN_MODEL DescriptorTable first_table;

}  // namespace

DescriptorTable& descriptor_table(std::uint32_t index) {
  return index < kMostTables && tables[index] != nullptr ? *tables[index] : first_table;
}

DescriptorTable* further_table(std::uint32_t index) {
  if (index >= kMostTables) return nullptr;
  if (tables[index] == nullptr)
    tables[index] = reinterpret_cast<DescriptorTable*>(take_model_room(sizeof(DescriptorTable)));
  return tables[index];
}

Descriptor* descriptor_at(DescriptorTable& table, long fd) {
  return fd >= 0 && fd < static_cast<long>(kMaxFds) ? &table.at[fd] : nullptr;
}

Descriptor* descriptor_at(long fd) { return descriptor_at(descriptor_table(self().fd_table), fd); }

void occupy(long fd, const Descriptor& descriptor, bool closes_on_exec) {
  DescriptorTable& table = descriptor_table(self().fd_table);
  table.at[fd] = descriptor;
  table.at[fd].closes_on_exec = closes_on_exec;
  if (fd >= static_cast<long>(table.used)) table.used = static_cast<std::uint32_t>(fd) + 1;
}

bool number_is_free(long fd) {
  const Descriptor* at = descriptor_at(fd);
  if (at == nullptr || at->kind == FileOf::kChannel || at->kind == FileOf::kPoller) return false;
  return at->kind == FileOf::kClosed || (at->opened == 0 && file_at_start(fd) == kNothing);
}

long unused_number(long least) {
  for (long fd = least < 3 ? 3 : least; fd < static_cast<long>(kMaxFds); fd++)
    if (number_is_free(fd) && !is_recorded_descriptor(fd)) return fd;
  return -ENFILE;
}

std::uint32_t file_of(const Descriptor& descriptor, long fd) {
  if (descriptor.kind != FileOf::kOutside) return kNothing;
  return descriptor.opened != 0 ? descriptor.opened - 1 : file_at_start(fd);
}

std::uint32_t file_of(long fd) {
  const Descriptor* at = descriptor_at(fd);
  return at == nullptr ? kNothing : file_of(*at, fd);
}

}  // namespace reweave::core
