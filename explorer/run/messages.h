// Messages between the processes of one program, over sockets: fixed fields in their memory representation, and lists
// with their length.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "formats/base/error.h"

namespace reweave {

class Packer {
 public:
  template <typename T>
  void put(const T& value) {
    put_bytes(&value, sizeof value);
  }
  template <typename List>
  void put_list(const List& list) {
    put<std::uint64_t>(list.size());
    put_bytes(list.data(), list.size() * sizeof(typename List::value_type));
  }
  // Returns false if the other side has closed the connection.
  bool send(int fd);

 private:
  void put_bytes(const void* from, std::size_t bytes) {
    const std::size_t at = data_.size();
    data_.resize(at + bytes);
    if (bytes != 0) std::memcpy(data_.data() + at, from, bytes);
  }
  // The message, preceded by its length; sent in one piece, so that the reader is woken once.
  std::vector<std::byte> data_ = std::vector<std::byte>(sizeof(std::uint64_t));
};

class Unpacker {
 public:
  // Returns false if the other side has closed the connection or sent a stop.
  bool receive(int fd);
  template <typename T>
  T get() {
    T value;
    CHECK(at_ + sizeof value <= data_.size());
    std::memcpy(&value, data_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  template <typename List>
  void get_list(List& list) {
    const auto count = get<std::uint64_t>();
    const std::size_t bytes = count * sizeof(typename List::value_type);
    CHECK(bytes <= data_.size() - at_);
    list.resize(count);
    if (bytes != 0) std::memcpy(list.data(), data_.data() + at_, bytes);
    at_ += bytes;
  }

 private:
  std::vector<std::byte> data_;
  std::size_t at_ = 0;
};

// Sends a stop in place of a message: no more messages follow.
void send_stop(int fd);

// A queue of received messages. A separate thread reads them from the socket, so that the sender never blocks in the
// middle of a message while this process waits for it to read a result.
class Inbox {
 public:
  explicit Inbox(int fd) : reader_([this, fd] { fill(fd); }) {}
  ~Inbox() { reader_.join(); }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Nothing if the other side has closed the connection or sent a stop.
  std::optional<Unpacker> next();

 private:
  void fill(int fd);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Unpacker> messages_;
  bool ended_ = false;
  std::thread reader_;  // last: it uses the others
};

}  // namespace reweave
