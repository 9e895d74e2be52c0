#include "recorder/core/explored/files/channels.h"

#include <sys/epoll.h>
#include <sys/socket.h>

namespace reweave::core {

namespace {

constexpr std::uint64_t kLengthBytes = 4;  // bytes of a message's length
constexpr std::uint64_t kMostCount = ~std::uint64_t{0} - 1;

std::uint64_t least(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

// Moves `bytes` between the channel's memory from `at` on and the spans after their first `skip` bytes.
template <typename Move>
void for_each_part(const ByteQueue& queue, std::uint64_t at, const Spans& spans, std::uint64_t skip,
                   std::uint64_t bytes, const Move& move) {
  for (std::uint32_t i = 0; i < spans.count && bytes > 0; i++) {
    if (skip >= spans.list[i].bytes) {
      skip -= spans.list[i].bytes;
      continue;
    }
    std::byte* data = spans.list[i].data + skip;
    std::uint64_t here = least(spans.list[i].bytes - skip, bytes);
    skip = 0;
    bytes -= here;
    while (here > 0) {
      const std::uint64_t offset = at & (kQueueBytes - 1);
      const std::uint64_t n = least(here, kQueueBytes - offset);
      move(queue.memory + offset, data, n);
      at += n, data += n, here -= n;
    }
  }
}

void put(ByteQueue& queue, const Spans& from, std::uint64_t done, std::uint64_t bytes) {
  for_each_part(queue, queue.head, from, done, bytes,
                [](std::byte* to, const std::byte* data, std::uint64_t n) { memcpy(to, data, n); });
  queue.head += bytes;
}

void copy_out(const ByteQueue& queue, std::uint64_t at, const Spans& to, std::uint64_t bytes) {
  for_each_part(queue, at, to, 0, bytes,
                [](const std::byte* from, std::byte* data, std::uint64_t n) { memcpy(data, from, n); });
}

std::uint64_t filled(const ByteQueue& queue) { return queue.head - queue.tail; }

bool is_full(const ByteQueue& queue) { return queue.paged ? queue.slots == kPipeSlots : filled(queue) >= kSocketBytes; }

// Takes room in a pipe for as many of `wanted` bytes as fit, and returns their number: the part that does not fill a
// page is appended to the last page if all of it fits there; the rest gets pages of its own.
std::uint64_t take_slots(ByteQueue& queue, std::uint64_t wanted) {
  std::uint64_t taken = 0;
  const std::uint64_t odd = wanted % kSlotBytes;
  if (odd != 0 && queue.slots != 0) {
    const std::uint32_t last = (queue.first_slot + queue.slots - 1) % kPipeSlots;
    if (queue.written[last] + odd <= kSlotBytes) {
      queue.written[last] = static_cast<std::uint16_t>(queue.written[last] + odd);
      queue.left[last] = static_cast<std::uint16_t>(queue.left[last] + odd);
      taken = odd;
    }
  }
  while (taken < wanted && queue.slots < kPipeSlots) {
    const std::uint32_t next = (queue.first_slot + queue.slots++) % kPipeSlots;
    queue.written[next] = queue.left[next] = static_cast<std::uint16_t>(least(wanted - taken, kSlotBytes));
    taken += queue.written[next];
  }
  return taken;
}

void free_slots(ByteQueue& queue, std::uint64_t bytes) {
  while (bytes > 0) {
    std::uint16_t& left = queue.left[queue.first_slot];
    const std::uint64_t n = least(left, bytes);
    left = static_cast<std::uint16_t>(left - n);
    bytes -= n;
    if (left != 0) return;
    queue.first_slot = (queue.first_slot + 1) % kPipeSlots;
    queue.slots--;
  }
}

// Takes `bytes` out of the channel.
void drop(ByteQueue& queue, std::uint64_t bytes) {
  if (is_full(queue) || !queue.paged) queue.departures++;
  queue.tail += bytes;
  if (queue.paged) free_slots(queue, bytes);
}

std::uint32_t message_bytes(const ByteQueue& queue) {
  std::uint32_t bytes = 0;
  const Span span = {reinterpret_cast<std::byte*>(&bytes), sizeof bytes};
  copy_out(queue, queue.tail, {&span, 1}, sizeof bytes);
  return bytes;
}

long read_message(ByteQueue& queue, const Spans& to, bool peek) {
  const std::uint32_t bytes = message_bytes(queue);
  const std::uint64_t n = least(bytes, to.bytes());
  copy_out(queue, queue.tail + kLengthBytes, to, n);
  queue.cut = n < bytes;
  if (peek) return static_cast<long>(n);
  drop(queue, kLengthBytes + bytes);
  queue.message_count--;
  return static_cast<long>(n);
}

long write_message(ByteQueue& queue, const Spans& from) {
  const auto bytes = static_cast<std::uint32_t>(from.bytes());
  if (from.bytes() > kSocketBytes - kLengthBytes) return -EMSGSIZE;
  if (filled(queue) + kLengthBytes + bytes > kSocketBytes) return -EAGAIN;
  std::uint32_t length = bytes;
  const Span header = {reinterpret_cast<std::byte*>(&length), sizeof length};
  put(queue, {&header, 1}, 0, sizeof length);
  put(queue, from, 0, bytes);
  queue.message_count++;
  queue.arrivals++;
  return static_cast<long>(bytes);
}

long read_counter(ChannelFile& file, const Spans& to) {
  if (to.bytes() < sizeof file.counter) return -EINVAL;
  if (file.counter == 0) return -EAGAIN;
  std::uint64_t value = file.semaphore ? 1 : file.counter;
  file.counter -= value;
  file.changes++;
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  for (std::uint64_t i = 0, n = 0; n < sizeof value; i++) {
    const std::uint64_t here = least(to.list[i].bytes, sizeof value - n);
    memcpy(to.list[i].data, from + n, here);
    n += here;
  }
  return sizeof value;
}

long write_counter(ChannelFile& file, const Spans& from) {
  std::uint64_t value = 0;
  if (from.bytes() < sizeof value) return -EINVAL;
  memcpy(&value, from.list[0].data, sizeof value);
  if (value > kMostCount) return -EINVAL;
  if (value > kMostCount - file.counter) return -EAGAIN;
  file.counter += value;
  file.changes++;
  return sizeof value;
}

bool ended(const ByteQueue& queue) { return queue.readers == 0 || queue.writers == 0; }

int take_error(ChannelFile& file) {
  const int error = file.error;
  file.error = 0;
  return error;
}

}  // namespace

long read_channel(ChannelFile& file, const Spans& to, bool peek) {
  if (file.kind == ChannelKind::kCounter) return read_counter(file, to);
  if (file.kind == ChannelKind::kProcess) return -EINVAL;
  if (file.in == nullptr) return -EBADF;
  ByteQueue& queue = *file.in;
  if (to.bytes() == 0 && !queue.messages) return 0;
  if (queue.messages)
    if (const int error = take_error(file)) return -error;
  if (filled(queue) == 0) {
    if (const int error = take_error(file)) return -error;
    return ended(queue) ? 0 : -EAGAIN;
  }
  if (queue.messages) return read_message(queue, to, peek);
  const std::uint64_t n = least(to.bytes(), filled(queue));
  copy_out(queue, queue.tail, to, n);
  if (!peek) drop(queue, n);
  return static_cast<long>(n);
}

long write_channel(ChannelFile& file, const Spans& from, std::uint64_t done) {
  if (file.kind == ChannelKind::kCounter) return write_counter(file, from);
  if (file.kind == ChannelKind::kProcess) return -EINVAL;
  if (file.out == nullptr) return -EBADF;
  ByteQueue& queue = *file.out;
  const std::uint64_t wanted = from.bytes() - done;
  if (wanted == 0 && !queue.messages) return 0;
  if (queue.messages)
    if (const int error = take_error(file)) return -error;
  if (ended(queue)) return -EPIPE;
  if (queue.messages) return write_message(queue, from);
  const std::uint64_t room = queue.paged ? take_slots(queue, wanted) : kSocketBytes - filled(queue);
  const std::uint64_t n = least(wanted, room);
  if (n == 0) return -EAGAIN;
  put(queue, from, done, n);
  queue.arrivals++;
  return static_cast<long>(n);
}

long shut_down(ChannelFile& file, long how) {
  if (file.kind != ChannelKind::kSocket) return -ENOTSOCK;
  if (how < SHUT_RD || how > SHUT_RDWR) return -EINVAL;
  if (how != SHUT_WR) file.in->readers = 0;
  if (how != SHUT_RD) file.out->writers = 0;
  file.in->departures++;
  file.out->arrivals++;
  return 0;
}

void close_channel(ChannelFile& file) {
  if (file.peer != nullptr) {
    file.peer->peer = nullptr;
    if (filled(*file.in) != 0) file.peer->error = ECONNRESET;
  }
  if (file.in != nullptr) {
    file.in->readers = file.in->paged && file.in->readers != 0 ? file.in->readers - 1 : 0;
    file.in->departures++;
  }
  if (file.out != nullptr) {
    file.out->writers = file.out->paged && file.out->writers != 0 ? file.out->writers - 1 : 0;
    file.out->arrivals++;
  }
}

std::uint32_t ready_bits(const ChannelFile& file) {
  constexpr std::uint32_t kIn = EPOLLIN | EPOLLRDNORM, kOut = EPOLLOUT | EPOLLWRNORM;
  if (file.kind == ChannelKind::kCounter)
    return (file.counter > 0 ? EPOLLIN : 0u) | (file.counter < kMostCount ? EPOLLOUT : 0u);
  if (file.kind == ChannelKind::kProcess) return file.counter > 0 ? kIn : 0;
  std::uint32_t bits = file.in != nullptr && filled(*file.in) != 0 ? kIn : 0;
  if (file.kind == ChannelKind::kPipe) {
    if (file.in != nullptr && file.in->writers == 0) bits |= EPOLLHUP;
    if (file.out != nullptr) bits |= (is_full(*file.out) ? 0 : kOut) | (file.out->readers == 0 ? EPOLLERR : 0u);
    return bits;
  }
  const bool in_ended = ended(*file.in), out_ended = ended(*file.out);
  if (file.error != 0) bits |= EPOLLERR;
  if (filled(*file.out) * 4 <= kSocketBytes) bits |= kOut | EPOLLWRBAND;
  if (in_ended) bits |= kIn | EPOLLRDHUP;
  if (in_ended && out_ended) bits |= EPOLLHUP;
  return bits;
}

std::uint64_t changes_of(const ChannelFile& file) {
  return file.changes + (file.in != nullptr ? file.in->arrivals : 0) + (file.out != nullptr ? file.out->departures : 0);
}

bool has_room(const ChannelFile& file, std::uint64_t wanted) {
  if (file.kind == ChannelKind::kCounter) return wanted <= kMostCount - file.counter;
  const ByteQueue& queue = *file.out;
  if (ended(queue) || file.error != 0) return true;
  return queue.messages ? filled(queue) + kLengthBytes + wanted <= kSocketBytes : !is_full(queue);
}

std::uint64_t bytes_to_read(const ChannelFile& file) {
  if (file.in == nullptr || filled(*file.in) == 0) return 0;
  return filled(*file.in) - file.in->message_count * kLengthBytes;
}

}  // namespace reweave::core
