#include "recorder/supervisor/ring/arena_memory.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <ctime>

#include "formats/base/error.h"

namespace reweave {

namespace {

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, int milliseconds) {
  const timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void futex_signal(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1);
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void set_up(Channel& channel, std::uint64_t bytes, std::uint64_t offset) {
  channel.bytes = bytes;
  channel.file_offset = offset;
}

}  // namespace

ArenaMemory::ArenaMemory(std::uint64_t feed_bytes, int ring_file)
    : fd_(SYSCALL_CHECK(memfd_create("reweave-arena", MFD_CLOEXEC), "creating the shared memory")),
      ring_file_(ring_file),
      feed_bytes_(feed_bytes) {
  CHECK(std::has_single_bit(feed_bytes));
  const std::uint64_t total = kRingsOffset + kOutRingBytes + feed_bytes;
  rlimit sizes = {};
  SYSCALL_CHECK(getrlimit(RLIMIT_FSIZE, &sizes), "asking for the file-size limit");
  REQUIRE(sizes.rlim_cur >= total,
          "the file-size limit is {} bytes, but the memory that Reweave shares with the program needs {}; raise it "
          "with ulimit -f",
          sizes.rlim_cur, total);
  SYSCALL_CHECK(ftruncate(fd_, static_cast<off_t>(total)), "sizing the shared memory");
  void* base = mmap(nullptr, kRingsOffset, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  SYSCALL_CHECK(base == MAP_FAILED ? -1 : 0, "mapping the shared memory");
  base_ = static_cast<std::byte*>(base);
  if (ring_file_ >= 0) {
    void* page = mmap(&header().out, kRingPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, ring_file_, 0);
    SYSCALL_CHECK(page == MAP_FAILED ? -1 : 0, "mapping the ring's file");
  }
  header().ring.magic = kRingMagic;
  header().ring.version = wire::kVersion;
  header().magic = kArenaMagic;
  header().version = wire::kVersion;
  header().header_bytes = sizeof(ArenaHeader);
  set_up(header().out, kOutRingBytes, ring_file_ >= 0 ? kRingPage : kRingsOffset);
  set_up(header().feed, feed_bytes, kRingsOffset + kOutRingBytes);
  state().out_limit = kOutRingBytes;
  out_ = map_mirrored(header().out, ring_file_ >= 0 ? ring_file_ : fd_);
  feed_ = map_mirrored(header().feed, fd_);
}

ArenaMemory::~ArenaMemory() {
  munmap(feed_, 2 * feed_bytes_);
  munmap(out_, 2 * kOutRingBytes);
  munmap(base_, kRingsOffset);
  close(fd_);
}

std::byte* ArenaMemory::map_mirrored(const Channel& channel, int fd) const {
  void* range = mmap(nullptr, 2 * channel.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  SYSCALL_CHECK(range == MAP_FAILED ? -1 : 0, "reserving addresses for a ring");
  auto* start = static_cast<std::byte*>(range);
  for (std::uint64_t copy : {std::uint64_t{0}, channel.bytes}) {
    void* half = mmap(start + copy, channel.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                      static_cast<off_t>(channel.file_offset));
    SYSCALL_CHECK(half == MAP_FAILED ? -1 : 0, "mapping a ring");
  }
  return start;
}

ArenaMemory::Span ArenaMemory::published() {
  Channel& out = header().out;
  const std::uint64_t tail = out.tail.load(std::memory_order_relaxed);
  const std::uint64_t head = out.head.load(std::memory_order_acquire);
  return {out_ + (tail & (kOutRingBytes - 1)), head - tail};
}

void ArenaMemory::take(std::uint64_t bytes) {
  Channel& out = header().out;
  const std::uint64_t taken = out.tail.load(std::memory_order_relaxed) + bytes;
  out.tail.store(taken, std::memory_order_release);
  if (ring_file_ < 0) header().ring.saved.store(taken, std::memory_order_release);
  futex_signal(out.tail_signal);
}

void ArenaMemory::note_saved(const SavedMark& mark) {
  RingMarks& ring = header().ring;
  const std::uint32_t other = ring.mark.load() ^ 1;
  ring.marks[other] = mark;
  ring.mark.store(other);
  ring.saved.store(mark.bytes, std::memory_order_release);
  futex_signal(header().out.tail_signal);
}

void ArenaMemory::publish(const void* record, std::uint64_t bytes) {
  Channel& out = header().out;
  const std::uint64_t head = out.head.load(std::memory_order_relaxed);
  std::memcpy(out_ + (head & (kOutRingBytes - 1)), record, bytes);
  out.head.store(head + bytes, std::memory_order_release);
  header().status.event.fetch_add(1);
}

bool ArenaMemory::stack_asked() {
  const StackRequest& request = stack_cache().request;
  return request.asked.load() != request.answered.load();
}

void ArenaMemory::answer_keep(std::uint16_t file) {
  KeepRequest& request = header().keep;
  request.file = file;
  request.asked.store(0);
  futex_signal(request.answered);
}

void ArenaMemory::let_begin() { futex_signal(header().status.guarded); }

void ArenaMemory::wait_for_records(int milliseconds) {
  const std::uint32_t seen = signals_seen();
  if (published().bytes == 0) let_gather(seen, milliseconds);
}

void ArenaMemory::wake_at(int signal) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
  sigaction(signal, &action, nullptr);
}

void ArenaMemory::let_gather(std::uint32_t seen, int milliseconds) {
  if (!stack_asked() && !keep_asked()) futex_wait(header().out.head_signal, seen, milliseconds);
}

void ArenaMemory::prepare_feed(std::uint64_t end) {
  constexpr std::uint64_t kFew = 64 << 10, kStep = 256 << 10;
  if (end <= kFew) return;
  while (feed_prepared_ < std::min(end, feed_bytes_)) {
    madvise(feed_ + feed_prepared_, kStep, MADV_POPULATE_WRITE);  // if the kernel supports it
    feed_prepared_ += kStep;
  }
}

bool ArenaMemory::offer(const void* record, std::uint64_t bytes) {
  if (offered_ + bytes - feed_tail_ > feed_bytes_) feed_tail_ = header().feed.tail.load(std::memory_order_acquire);
  if (offered_ + bytes - feed_tail_ > feed_bytes_) return false;
  if (feed_prepared_ < feed_bytes_) prepare_feed(offered_ + bytes);
  std::memcpy(feed_ + (offered_ & (feed_bytes_ - 1)), record, bytes);
  offered_ += bytes;
  return true;
}

void ArenaMemory::show_offered() {
  Channel& feed = header().feed;
  const std::uint64_t shown = feed.head.load(std::memory_order_relaxed);
  if (shown == offered_) return;
  feed.head.store(offered_, std::memory_order_release);
  // The target sleeps only while the feed is empty.
  if (feed.tail.load() == shown) futex_signal(feed.head_signal);
}

void ArenaMemory::close_feed() {
  show_offered();
  header().feed.closed.store(1);
  futex_signal(header().feed.head_signal);
}

void ArenaMemory::wait_for_feed_room(int milliseconds) {
  Channel& feed = header().feed;
  const std::uint32_t seen = feed.tail_signal.load();
  if (feed.head.load() - feed.tail.load() < feed.bytes / 2) return;
  futex_wait(feed.tail_signal, seen, milliseconds);
}

}  // namespace reweave
