// Packets of gdb's remote protocol, over two descriptors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reweave {

std::string to_hex(std::string_view data);
// Decodes pairs of hex digits, up to the first pair that has another character.
std::string from_hex(std::string_view digits);
// Removes a hexadecimal number from the beginning of `text` and returns it.
std::uint64_t take_hex(std::string_view& text);
// Escapes the bytes that have a meaning in packets.
std::string packet_escaped(std::string_view data);
std::string packet_unescaped(std::string_view data);

class Packets {
 public:
  Packets(int input, int output) : input_(input), output_(output) {}

  // Returns the next packet's contents; nothing if the connection has ended.
  std::optional<std::string> next();
  void send(std::string_view contents);
  // True if gdb asks the process to stop. Does not wait. gdb may also ask while it receives a stop that it does not
  // show, for example because a breakpoint's condition is false, and then continue. Such a request counts for the next
  // motion.
  bool interrupted();
  // Call this when the user sees a stop: earlier requests to stop are fulfilled.
  void forget_interruption() { late_interruption_ = false; }
  void acknowledge(bool on) { acknowledges_ = on; }

 private:
  int take();  // a byte, or -1

  int input_, output_;
  std::string received_;
  bool acknowledges_ = true;
  bool late_interruption_ = false;  // an interruption arrived between packets
};

}  // namespace reweave
