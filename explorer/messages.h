// Messages between the processes of one program, over sockets: fixed fields as they lie in memory, then bytes with
// their length.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "formats/error.h"

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
  // False: the other side is gone.
  bool send(int fd);

 private:
  void put_bytes(const void* from, std::size_t bytes) {
    const std::size_t at = data_.size();
    data_.resize(at + bytes);
    if (bytes != 0) std::memcpy(data_.data() + at, from, bytes);
  }
  // Its length comes first, in one piece with it: the reader is woken once.
  std::vector<std::byte> data_ = std::vector<std::byte>(sizeof(std::uint64_t));
};

class Unpacker {
 public:
  // False: the other side is gone, or wants no more.
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

// In place of a message: there will be no more.
void send_stop(int fd);

// Messages that have come and were not yet taken. A thread of its own takes them from the pipe, so that the sender is
// never stopped in the middle of one while we wait for it to take a result.
class Inbox {
 public:
  explicit Inbox(int fd) : reader_([this, fd] { fill(fd); }) {}
  ~Inbox() { reader_.join(); }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Nothing: the other side is gone.
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
