// Packets of gdb's remote protocol, over two descriptors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reweave {

std::string to_hex(std::string_view data);
// Without what is no pair of digits.
std::string from_hex(std::string_view digits);
// The number at the beginning of `text`, in hex, which is removed from it.
std::uint64_t take_hex(std::string_view& text);
// With the bytes escaped that mean something in packets.
std::string packet_escaped(std::string_view data);
std::string packet_unescaped(std::string_view data);

class Packets {
 public:
  Packets(int input, int output) : input_(input), output_(output) {}

  // The next packet's contents. None: the connection has ended.
  std::optional<std::string> next();
  void send(std::string_view contents);
  // True if gdb asks for the process to stop. Does not wait. gdb may ask while it is being told of a stop that it does
  // not show, such as a condition that is false, and then lets the process go on: that counts for the next motion.
  bool interrupted();
  // The user sees a stop: what was asked for before has been done.
  void forget_interruption() { late_interruption_ = false; }
  void acknowledge(bool on) { acknowledges_ = on; }

 private:
  int take();  // a byte, or -1

  int input_, output_;
  std::string received_;
  bool acknowledges_ = true;
  bool late_interruption_ = false;  // between packets
};

}  // namespace reweave
