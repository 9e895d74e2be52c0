#include "explorer/run/messages.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace reweave {

namespace {

bool read_all(int fd, void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n = read(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool write_all(int fd, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

// Sent in place of a message's length.
constexpr std::uint64_t kStop = 0;

}  // namespace

bool Packer::send(int fd) {
  const std::uint64_t bytes = data_.size() - sizeof bytes;
  std::memcpy(data_.data(), &bytes, sizeof bytes);
  return write_all(fd, data_.data(), data_.size());
}

bool Unpacker::receive(int fd) {
  std::uint64_t bytes = 0;
  if (!read_all(fd, &bytes, sizeof bytes) || bytes == kStop) return false;
  data_.resize(bytes);
  at_ = 0;
  return read_all(fd, data_.data(), bytes);
}

void send_stop(int fd) { write_all(fd, &kStop, sizeof kStop); }

std::optional<Unpacker> Inbox::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || !messages_.empty(); });
  if (messages_.empty()) return {};
  Unpacker first = std::move(messages_.front());
  messages_.pop_front();
  return first;
}

void Inbox::fill(int fd) {
  for (bool more = true; more;) {
    Unpacker message;
    more = message.receive(fd);
    const std::lock_guard lock(mutex_);
    if (more) messages_.push_back(std::move(message));
    ended_ = !more;
    changed_.notify_one();
  }
}

}  // namespace reweave
