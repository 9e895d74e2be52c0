// Compares the modelled pipes, event counters and socket pairs of explored runs with the kernel's. The same random
// operations on both must give the same results, bytes and poll bits.
#define BOOST_TEST_MODULE channels
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <random>
#include <vector>

#include "recorder/core/explored/files/channels.h"

using namespace reweave::core;

namespace {

constexpr int kRounds = 400, kOperations = 60;

// One end: the kernel's descriptor and the model's file.
struct End {
  int fd = -1;
  ChannelFile file = {};
  bool open = true;
};

struct Pair {
  End ends[2];
  ByteQueue queues[2] = {};
  std::unique_ptr<std::byte[]> memory = std::make_unique<std::byte[]>(2 * kQueueBytes);

  Pair() {
    for (int i = 0; i < 2; i++) {
      queues[i].memory = memory.get() + static_cast<std::uint64_t>(i) * kQueueBytes;
      queues[i].readers = queues[i].writers = 1;
    }
  }
  ~Pair() {
    for (const End& end : ends)
      if (end.open && end.fd >= 0) close(end.fd);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
};

void make_pipe(Pair& pair) {
  int fds[2];
  BOOST_REQUIRE(pipe2(fds, O_NONBLOCK) == 0);
  pair.queues[0].paged = true;
  for (int i = 0; i < 2; i++) {
    pair.ends[i].fd = fds[i];
    pair.ends[i].file.kind = ChannelKind::kPipe;
  }
  pair.ends[0].file.in = pair.ends[1].file.out = &pair.queues[0];
}

void make_sockets(Pair& pair, int type) {
  int fds[2];
  BOOST_REQUIRE(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, fds) == 0);
  for (int i = 0; i < 2; i++) {
    End& end = pair.ends[i];
    end.fd = fds[i];
    end.file.kind = ChannelKind::kSocket;
    pair.queues[i].messages = type != SOCK_STREAM;
    end.file.in = &pair.queues[i];
    end.file.out = &pair.queues[1 - i];
    end.file.peer = &pair.ends[1 - i].file;
  }
}

void make_counter(Pair& pair, bool semaphore) {
  pair.ends[0].fd = eventfd(3, EFD_NONBLOCK | (semaphore ? EFD_SEMAPHORE : 0));
  pair.ends[0].file.kind = ChannelKind::kCounter;
  pair.ends[0].file.semaphore = semaphore;
  pair.ends[0].file.counter = 3;
  pair.ends[1].open = false;
}

using Random = std::mt19937_64;
std::uint64_t below(Random& random, std::uint64_t bound) { return random() % bound; }

long result_of(long result) { return result < 0 ? -errno : result; }

void compare_state(const Pair& pair) {
  constexpr short kAsked = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM | POLLRDHUP;
  for (const End& end : pair.ends) {
    if (!end.open) continue;
    pollfd entry = {end.fd, kAsked, 0};
    poll(&entry, 1, 0);
    BOOST_TEST(entry.revents == static_cast<short>(ready_bits(end.file) & (kAsked | POLLERR | POLLHUP)));
    int bytes = 0;
    if (end.file.in != nullptr && ioctl(end.fd, FIONREAD, &bytes) == 0)
      BOOST_TEST(static_cast<std::uint64_t>(bytes) == bytes_to_read(end.file));
  }
}

// Reads into a buffer of two parts, so that the model has to handle several spans.
void do_read(End& end, std::uint64_t bytes, bool peek) {
  std::vector<std::byte> real(bytes + 1), modelled(bytes + 1);
  const std::uint64_t half = bytes / 3;
  iovec parts[] = {{real.data(), half}, {real.data() + half, bytes - half}};
  const Span spans[] = {{modelled.data(), half}, {modelled.data() + half, bytes - half}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  const long expected = result_of(peek ? recvmsg(end.fd, &message, MSG_PEEK) : readv(end.fd, parts, 2));
  BOOST_TEST(read_channel(end.file, {spans, 2}, peek) == expected);
  BOOST_TEST((real == modelled));
}

void do_write(End& end, std::uint64_t bytes, Random& random) {
  std::vector<std::byte> data(bytes + 1);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  const Span span = {data.data(), bytes};
  const long expected = result_of(write(end.fd, data.data(), bytes));
  BOOST_TEST(write_channel(end.file, {&span, 1}, 0) == expected);
}

void do_count(End& end, Random& random) {
  std::uint64_t value = below(random, 3) == 0 ? ~std::uint64_t{0} - below(random, 4) : below(random, 5);
  std::uint64_t real = 0, modelled = 0;
  if (below(random, 2) == 0) {
    const Span span = {reinterpret_cast<std::byte*>(&value), sizeof value};
    const long expected = result_of(write(end.fd, &value, sizeof value));
    BOOST_TEST(write_channel(end.file, {&span, 1}, 0) == expected);
    return;
  }
  const Span span = {reinterpret_cast<std::byte*>(&modelled), sizeof modelled};
  const long expected = result_of(read(end.fd, &real, sizeof real));
  BOOST_TEST(read_channel(end.file, {&span, 1}, false) == expected);
  BOOST_TEST(real == modelled);
}

void do_close(End& end) {
  if (!end.open) return;
  end.open = false;
  close(end.fd);
  close_channel(end.file);
}

// Performs random operations on both, with writes of up to `most` bytes.
void play(Pair& pair, Random& random, std::uint64_t most) {
  const bool socket = pair.ends[0].file.kind == ChannelKind::kSocket;
  for (int i = 0; i < kOperations; i++) {
    End& end = pair.ends[below(random, 2)];
    if (!end.open) continue;
    const std::uint64_t what = below(random, 100);
    const std::uint64_t bytes = 1 + below(random, below(random, 4) == 0 ? most : 100);
    if (end.file.kind == ChannelKind::kCounter) {
      do_count(end, random);
    } else if (what < 3) {
      do_close(end);
    } else if (what < 5 && socket) {
      const auto how = static_cast<int>(below(random, 3));
      BOOST_TEST(shut_down(end.file, how) == result_of(shutdown(end.fd, how)));
    } else if (end.file.out == nullptr || (what < 50 && end.file.in != nullptr)) {
      do_read(end, bytes, socket && below(random, 5) == 0);
    } else {
      do_write(end, bytes, random);
    }
    compare_state(pair);
  }
}

template <typename Make>
void play_rounds(std::uint64_t most, const Make& make) {
  std::signal(SIGPIPE, SIG_IGN);
  Random random(7);
  for (int round = 0; round < kRounds; round++) {
    Pair pair;
    make(pair);
    BOOST_TEST_CONTEXT("round " << round) play(pair, random, most);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(pipes_are_as_the_kernels) { play_rounds(20'000, make_pipe); }

BOOST_AUTO_TEST_CASE(counters_are_as_the_kernels) {
  play_rounds(1, [](Pair& pair) { make_counter(pair, false); });
  play_rounds(1, [](Pair& pair) { make_counter(pair, true); });
}

// The sockets stay far from full, because how much the kernel accepts depends on its own bookkeeping.
BOOST_AUTO_TEST_CASE(sockets_are_as_the_kernels) {
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET})
    play_rounds(300, [type](Pair& pair) { make_sockets(pair, type); });
}
