#include "recorder/core/explored/files/own_files.h"

#include "recorder/core/explored/awaiting.h"
#include "recorder/core/explored/files/passed_files.h"
#include "recorder/core/explored/files/polls.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kMostFiles = 1024;

IN_MODEL ChannelFile files[kMostFiles];
IN_MODEL ByteQueue queues[kMostFiles];
IN_MODEL bool files_made;  // there is, or was, one

void release_queue(ByteQueue* queue) {
  if (queue != nullptr) queue->in_use--;
}

void clear(DescriptorTable& table) {
  for (std::uint32_t fd = 0; fd < table.used; fd++) release_number(table.at[fd]);
}

bool used_elsewhere(std::uint32_t table, std::uint16_t process) {
  for (const Thread& thread : live_threads(state()))
    if (thread.process != process && thread.fd_table == table) return true;
  return false;
}

}  // namespace

ChannelFile* new_channel(ChannelKind kind) {
  files_made = true;
  for (ChannelFile& file : files)
    if (file.references == 0) {
      file = {};
      file.kind = kind;
      file.references = 1;
      return &file;
    }
  return nullptr;
}

ByteQueue* new_queue() {
  for (ByteQueue& queue : queues) {
    if (queue.in_use != 0) continue;
    std::byte* memory = queue.memory != nullptr ? queue.memory : take_model_room(kQueueBytes);
    if (memory == nullptr) return nullptr;
    queue = {};
    queue.memory = memory;
    queue.in_use = 2;
    queue.readers = queue.writers = 1;
    return &queue;
  }
  return nullptr;
}

bool has_own_files() { return files_made; }
std::uint64_t own_files_object() { return reinterpret_cast<std::uint64_t>(files); }

void note_ended_process(std::uint16_t index) {
  for (ChannelFile& file : files) {
    if (file.references == 0 || file.kind != ChannelKind::kProcess || file.process != index) continue;
    file.counter = 1;
    file.changes++;
  }
}

void drop_reference(ChannelFile& file) {
  if (--file.references != 0) return;
  forget_watches(file);
  close_channel(file);
  if (file.in != nullptr) drop_passed_files(*file.in);
  release_queue(file.in);
  release_queue(file.out);
  wake_satisfied();
}

void drop_reference(const Descriptor& descriptor) {
  if (descriptor.kind == FileOf::kChannel) drop_reference(*descriptor.channel);
  if (descriptor.kind == FileOf::kPoller) drop_reference(*descriptor.poller);
}

void add_reference(const Descriptor& descriptor) {
  if (descriptor.kind == FileOf::kChannel) descriptor.channel->references++;
  if (descriptor.kind == FileOf::kPoller) add_reference(*descriptor.poller);
}

void release_number(Descriptor& descriptor) {
  const Descriptor was = descriptor;
  descriptor = {FileOf::kClosed, false, nullptr, nullptr, 0};
  drop_reference(was);
}

void close_number(long fd) {
  const Descriptor was = *descriptor_at(fd);
  occupy(fd, {FileOf::kClosed, false, nullptr, nullptr, 0}, false);
  drop_reference(was);
}

bool copy_descriptors(std::uint32_t from, std::uint32_t to) {
  const DescriptorTable& source = descriptor_table(from);
  DescriptorTable* copy = further_table(to);
  if (copy == nullptr) return false;
  clear(*copy);  // entries of a thread that used it and has ended
  const std::uint32_t used = source.used > copy->used ? source.used : copy->used;
  memcpy(copy->at, source.at, used * sizeof copy->at[0]);
  copy->used = source.used;
  for (std::uint32_t fd = 0; fd < copy->used; fd++) add_reference(copy->at[fd]);
  return true;
}

void close_descriptors_of(std::uint16_t process) {
  for (const Thread& thread : threads_of(state(), state().processes[process]))
    if (!used_elsewhere(thread.fd_table, process)) clear(descriptor_table(thread.fd_table));
}

void close_on_exec() {
  DescriptorTable& table = descriptor_table(self().fd_table);
  for (std::uint32_t fd = 0; fd < table.used; fd++)
    if (table.at[fd].closes_on_exec) release_number(table.at[fd]);
}

}  // namespace reweave::core
