#include "recorder/core/explored/files/polls.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "recorder/core/explored/awaiting.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/recorded/inputs.h"
#include "recorder/core/explored/tasks/time.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

// Zeroed: not in use.
struct Poller {
  std::uint32_t references;
  std::uint32_t turn;  // index of the watch with which the next report begins
};

namespace {

constexpr std::uint32_t kMostPollers = 128, kMostWatches = 4096, kMostPolled = 1024;
constexpr std::uint32_t kAlways = EPOLLERR | EPOLLHUP;
constexpr std::uint32_t kOptions = EPOLLET | EPOLLONESHOT | EPOLLWAKEUP | EPOLLEXCLUSIVE;

// A file that an epoll instance watches. For the run's own files this is the file itself, even if the number is reused.
struct Watch {
  Poller* by;  // null: not in use
  long fd;
  Descriptor to;
  std::uint32_t events;
  std::uint64_t data;
  std::uint64_t told;  // edge-triggered: the changes (plus one) reported last
  bool off;            // one-shot, and reported
};

IN_MODEL Poller pollers[kMostPollers];
IN_MODEL Watch watches[kMostWatches];
IN_MODEL std::uint32_t watches_used;  // from here on they were never in use

bool poller_is_ready(const Poller& poller);

// The bits among `asked` that hold for `at`.
std::uint32_t bits_of(const Descriptor& at, long fd, std::uint32_t asked) {
  switch (at.kind) {
    case FileOf::kChannel:
      return ready_bits(*at.channel) & (asked | kAlways);
    case FileOf::kPoller:
      return poller_is_ready(*at.poller) ? asked & (EPOLLIN | EPOLLRDNORM) : 0;
    case FileOf::kClosed:
      return POLLNVAL;
    case FileOf::kOutside:
      break;
  }
  const std::uint32_t writes = asked & (EPOLLOUT | EPOLLWRNORM), reads = asked & (EPOLLIN | EPOLLRDNORM);
  return writes | (reads != 0 && outside_readable(file_of(at, fd)) ? reads : 0);
}

std::uint64_t changes(const Watch& watch) {
  if (watch.to.kind == FileOf::kChannel) return changes_of(*watch.to.channel) + 1;
  return watch.to.kind == FileOf::kOutside ? outside_changes(file_of(watch.to, watch.fd)) + 1 : 0;
}

std::uint32_t due_bits(const Watch& watch) {
  if (watch.off) return 0;
  if ((watch.events & EPOLLET) != 0 && watch.told == changes(watch)) return 0;
  return bits_of(watch.to, watch.fd, watch.events & ~kOptions);
}

template <typename Use>
void for_each_watch(const Poller& poller, const Use& use) {
  for (std::uint32_t i = 0; i < watches_used; i++)
    if (watches[i].by == &poller) use(watches[i]);
}

bool poller_is_ready(const Poller& poller) {
  bool ready = false;
  for_each_watch(poller, [&ready](const Watch& watch) { ready = ready || due_bits(watch) != 0; });
  return ready;
}

bool reads_outside(const Descriptor& at, std::uint32_t asked) {
  return at.kind == FileOf::kOutside && (asked & (EPOLLIN | EPOLLRDNORM)) != 0;
}

Watch* find_watch(const Poller& poller, long fd, const Descriptor& to) {
  for (std::uint32_t i = 0; i < watches_used; i++) {
    Watch& watch = watches[i];
    if (watch.by == &poller && watch.fd == fd && watch.to.channel == to.channel && watch.to.poller == to.poller)
      return &watch;
  }
  return nullptr;
}

Watch* new_watch() {
  for (std::uint32_t i = 0; i < watches_used; i++)
    if (watches[i].by == nullptr) return &watches[i];
  return watches_used < kMostWatches ? &watches[watches_used++] : nullptr;
}

// struct epoll_event, which is packed.
struct [[gnu::packed]] Event {
  std::uint32_t events;
  std::uint64_t data;
};

long control_watches(Poller& poller, const Call& call) {
  const long operation = call.logged[1], fd = call.logged[2];
  const Descriptor* to = descriptor_at(fd);
  if (to == nullptr || to->kind == FileOf::kClosed) return -EBADF;
  if (to->poller == &poller) return -EINVAL;
  Watch* watch = find_watch(poller, fd, *to);
  if (operation == EPOLL_CTL_DEL) {
    if (watch == nullptr) return -ENOENT;
    watch->by = nullptr;
    return 0;
  }
  const auto event = *reinterpret_cast<const Event*>(call.logged[3]);
  if (operation == EPOLL_CTL_ADD) {
    if (watch != nullptr) return -EEXIST;
    watch = new_watch();
    if (watch == nullptr) return -ENOSPC;
  } else if (operation != EPOLL_CTL_MOD) {
    return -EINVAL;
  }
  if (watch == nullptr) return -ENOENT;
  *watch = {&poller, fd, *to, event.events, event.data, 0, false};
  return 0;
}

// Up to `room` watches with something to report, in rotation.
std::uint32_t take_events(Poller& poller, Event* to, std::uint32_t room) {
  std::uint32_t n = 0;
  const std::uint32_t from = poller.turn;
  for (std::uint32_t i = 0; i < watches_used && n < room; i++) {
    const std::uint32_t at = (from + i) % watches_used;
    Watch& watch = watches[at];
    if (watch.by != &poller) continue;
    const std::uint32_t bits = due_bits(watch);
    if (bits == 0) continue;
    to[n++] = {bits, watch.data};
    if (reads_outside(watch.to, bits)) expect_input(file_of(watch.to, watch.fd));
    watch.told = changes(watch);
    watch.off = (watch.events & EPOLLONESHOT) != 0;
    poller.turn = at + 1;
  }
  return n;
}

bool poller_holds(const void* what) { return poller_is_ready(*static_cast<const Poller*>(what)); }

bool poller_hurries(const void* what) {
  bool some = false;
  for_each_watch(*static_cast<const Poller*>(what), [&some](const Watch& watch) {
    if (!watch.off && reads_outside(watch.to, watch.events) && hurry_input(file_of(watch.to, watch.fd))) some = true;
  });
  return some;
}

bool poller_reads_outside(const Poller& poller) {
  bool some = false;
  for_each_watch(poller, [&some](const Watch& watch) { some = some || reads_outside(watch.to, watch.events); });
  return some;
}

WaitResult wait_for(const Awaited& awaited, const Call& call) {
  const std::int64_t deadline = end_of_poll(call);
  if (awaited.holds(awaited.what) || deadline <= state().virtual_now) return WaitResult::kWoken;
  return wait_until(awaited, deadline);
}

long wait_for_events(Call& call, Poller& poller) {
  const long room = call.logged[2];
  if (room <= 0) return complete(call, -EINVAL);
  add_reference(poller);
  const Awaited awaited = {&poller, 0, poller_holds, poller_hurries, poller_reads_outside(poller)};
  const WaitResult ended = wait_for(awaited, call);
  auto* events = reinterpret_cast<Event*>(call.logged[1]);
  const std::uint32_t n = take_events(poller, events, static_cast<std::uint32_t>(room));
  drop_reference(poller);
  if (n == 0 && ended == WaitResult::kInterrupted) return complete(call, -EINTR);
  return log_value(call, n, static_cast<std::uint64_t>(call.logged[1]), n * sizeof(Event));
}

// The descriptors of a poll or select, in poll's form, in the table of the waiting thread.
struct Polled {
  DescriptorTable* table;
  std::uint32_t count;
  struct pollfd list[kMostPolled];
};

std::uint32_t bits_of(const Polled& polled, const struct pollfd& entry) {
  if (entry.fd < 0) return 0;
  const Descriptor* at = descriptor_at(*polled.table, entry.fd);
  return at == nullptr ? POLLNVAL : bits_of(*at, entry.fd, static_cast<std::uint16_t>(entry.events));
}

std::uint32_t file_of(const Polled& polled, const struct pollfd& entry) {
  return file_of(*descriptor_at(*polled.table, entry.fd), entry.fd);
}

bool polled_holds(const void* what) {
  const auto& polled = *static_cast<const Polled*>(what);
  for (std::uint32_t i = 0; i < polled.count; i++)
    if (bits_of(polled, polled.list[i]) != 0) return true;
  return false;
}

bool is_read_outside(const Polled& polled, const struct pollfd& entry) {
  const Descriptor* at = descriptor_at(*polled.table, entry.fd);
  return at != nullptr && reads_outside(*at, static_cast<std::uint16_t>(entry.events));
}

bool polled_hurries(const void* what) {
  const auto& polled = *static_cast<const Polled*>(what);
  bool some = false;
  for (std::uint32_t i = 0; i < polled.count; i++)
    if (is_read_outside(polled, polled.list[i]) && hurry_input(file_of(polled, polled.list[i]))) some = true;
  return some;
}

// True if one of the descriptors is the run's own, or the result is known for all of them. Otherwise the recording
// answers.
bool concerns_us(const Polled& polled) {
  bool all = polled.count != 0;
  for (std::uint32_t i = 0; i < polled.count; i++) {
    const Descriptor* at = descriptor_at(polled.list[i].fd);
    if (at != nullptr && at->kind != FileOf::kOutside) return true;
    all = all && at != nullptr && first_input(file_of(polled, polled.list[i])) != nullptr;
  }
  return all;
}

// Waits for the descriptors, then fills in the ready bits of each. Returns the number of descriptors with any bit set.
std::uint32_t await_polled(const Call& call, Polled& polled, WaitResult& ended) {
  bool outside = false;
  for (std::uint32_t i = 0; i < polled.count; i++) outside = outside || is_read_outside(polled, polled.list[i]);
  ended = wait_for(
      {&polled, offsetof(Polled, list) + polled.count * sizeof polled.list[0], polled_holds, polled_hurries, outside},
      call);
  std::uint32_t ready = 0;
  for (std::uint32_t i = 0; i < polled.count; i++) {
    struct pollfd& entry = polled.list[i];
    entry.revents = static_cast<std::int16_t>(bits_of(polled, entry));
    if (entry.revents == 0) continue;
    ready++;
    if (is_read_outside(polled, entry)) expect_input(file_of(polled, entry));
  }
  return ready;
}

bool model_poll(Call& call, long& result) {
  Polled polled;
  polled.table = &descriptor_table(call.me.fd_table);
  if (static_cast<std::uint64_t>(call.logged[1]) > kMostPolled) return false;
  polled.count = static_cast<std::uint32_t>(call.logged[1]);
  auto* list = reinterpret_cast<struct pollfd*>(call.logged[0]);
  memcpy(polled.list, list, polled.count * sizeof *list);
  if (!concerns_us(polled)) return false;
  WaitResult ended = WaitResult::kWoken;
  const std::uint32_t ready = await_polled(call, polled, ended);
  if (ready == 0 && ended == WaitResult::kInterrupted) return result = complete(call, -EINTR), true;
  memcpy(list, polled.list, polled.count * sizeof *list);
  result = log_value(call, ready, static_cast<std::uint64_t>(call.logged[0]), polled.count * sizeof *list);
  return true;
}

// The events that each set of a select asks for, and the events that answer it (select(2)).
struct Set {
  std::uint32_t asks, answers;
};
constexpr Set kSets[] = {{POLLIN, POLLIN | POLLHUP | POLLERR}, {POLLOUT, POLLOUT | POLLERR}, {POLLPRI, POLLPRI}};

bool is_set(long set, std::uint32_t fd) {
  return set != 0 && (reinterpret_cast<const std::uint64_t*>(set)[fd / 64] >> fd % 64 & 1) != 0;
}

bool model_select(Call& call, long& result) {
  Polled polled;
  polled.table = &descriptor_table(call.me.fd_table);
  polled.count = 0;
  for (std::uint32_t fd = 0; static_cast<long>(fd) < call.logged[0]; fd++) {
    std::uint32_t asked = 0;
    for (int i = 0; i < 3; i++) asked |= is_set(call.logged[1 + i], fd) ? kSets[i].asks : 0;
    if (asked == 0) continue;
    if (polled.count == kMostPolled) return false;
    polled.list[polled.count++] = {static_cast<int>(fd), static_cast<std::int16_t>(asked), 0};
  }
  if (!concerns_us(polled)) return false;
  WaitResult ended = WaitResult::kWoken;
  if (await_polled(call, polled, ended) == 0 && ended == WaitResult::kInterrupted)
    return result = complete(call, -EINTR), true;
  Output outputs[3];
  std::uint32_t written = 0;
  result = 0;
  const std::uint64_t bytes = (static_cast<std::uint64_t>(call.logged[0]) + 63) / 64 * 8;
  for (int i = 0; i < 3; i++) {
    if (call.logged[1 + i] == 0) continue;
    auto* words = reinterpret_cast<std::uint64_t*>(call.logged[1 + i]);
    for (std::uint32_t k = 0; k < polled.count; k++) {
      const auto fd = static_cast<std::uint32_t>(polled.list[k].fd);
      if (!is_set(call.logged[1 + i], fd)) continue;
      if ((static_cast<std::uint16_t>(polled.list[k].revents) & POLLNVAL) != 0) result = -EBADF;
      if ((static_cast<std::uint16_t>(polled.list[k].revents) & kSets[i].answers) == 0)
        words[fd / 64] &= ~(std::uint64_t{1} << fd % 64);
      else if (result >= 0)
        result++;
    }
    outputs[written++] = {static_cast<std::uint64_t>(call.logged[1 + i]), bytes};
  }
  log_call(call, result, outputs, written);
  return true;
}

bool use_poller(Call& call, long& result) {
  const Descriptor* at = descriptor_at(call.logged[0]);
  if (at == nullptr || at->kind != FileOf::kPoller) return false;
  if (call.row->at.limit < 0) {
    result = complete(call, control_watches(*at->poller, call));
    wake_satisfied();
  } else {
    result = wait_for_events(call, *at->poller);
  }
  return true;
}

}  // namespace

bool model_poll_call(Call& call, long& result) {
  if ((call.row->flags & kPollsList) != 0) return model_poll(call, result);
  if ((call.row->flags & kPollsSets) != 0) return model_select(call, result);
  return (call.row->flags & kPollsEvents) != 0 && use_poller(call, result);
}

Poller* make_poller() {
  for (Poller& poller : pollers)
    if (poller.references == 0) {
      poller = {1, 0};
      return &poller;
    }
  return nullptr;
}

void add_reference(Poller& poller) { poller.references++; }

void drop_reference(Poller& poller) {
  if (--poller.references != 0) return;
  for (std::uint32_t i = 0; i < watches_used; i++)
    if (watches[i].by == &poller || watches[i].to.poller == &poller) watches[i].by = nullptr;
}

void forget_watches(const ChannelFile& channel) {
  for (std::uint32_t i = 0; i < watches_used; i++)
    if (watches[i].to.channel == &channel) watches[i].by = nullptr;
}

void forget_outside_watches(long fd, std::uint32_t file) {
  for (std::uint32_t i = 0; i < watches_used; i++)
    if (watches[i].fd == fd && watches[i].to.kind == FileOf::kOutside && file_of(watches[i].to, fd) == file)
      watches[i].by = nullptr;
}

}  // namespace reweave::core
