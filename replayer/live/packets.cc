#include "replayer/live/packets.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace reweave {

namespace {

constexpr char kInterrupt = 3;

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::string to_hex(std::string_view data) {
  std::string text;
  for (const char c : data) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string from_hex(std::string_view digits) {
  std::string data;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const int high = digit(digits[i]), low = digit(digits[i + 1]);
    if (high < 0 || low < 0) break;
    data += static_cast<char>(high << 4 | low);
  }
  return data;
}

std::uint64_t take_hex(std::string_view& text) {
  std::uint64_t value = 0;
  while (!text.empty() && digit(text.front()) >= 0) {
    value = value << 4 | static_cast<unsigned>(digit(text.front()));
    text.remove_prefix(1);
  }
  return value;
}

std::string packet_escaped(std::string_view data) {
  std::string text;
  for (const char c : data) {
    const bool special = c == '#' || c == '$' || c == '}' || c == '*';
    if (special) text += '}';
    text += special ? static_cast<char>(c ^ 0x20) : c;
  }
  return text;
}

std::string packet_unescaped(std::string_view data) {
  std::string text;
  for (std::size_t i = 0; i < data.size(); i++)
    text += data[i] == '}' && i + 1 < data.size() ? static_cast<char>(data[++i] ^ 0x20) : data[i];
  return text;
}

int Packets::take() {
  while (received_.empty()) {
    char buffer[4096];
    const ssize_t got = read(input_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    received_.assign(buffer, static_cast<std::size_t>(got));
  }
  const auto byte = static_cast<unsigned char>(received_.front());
  received_.erase(0, 1);
  return byte;
}

std::optional<std::string> Packets::next() {
  for (int c = take(); c >= 0; c = take()) {
    if (c == kInterrupt) late_interruption_ = true;
    if (c != '$') continue;  // skips acknowledgements too
    std::string contents;
    for (c = take(); c >= 0 && c != '#'; c = take()) contents += static_cast<char>(c);
    if (take() < 0 || take() < 0) return {};
    if (acknowledges_ && write(output_, "+", 1) != 1) return {};
    return contents;
  }
  return {};
}

void Packets::send(std::string_view contents) {
  unsigned char sum = 0;
  for (const char c : contents) sum = static_cast<unsigned char>(sum + static_cast<unsigned char>(c));
  const std::string packet = fmt::format("${}#{:02x}", contents, sum);
  for (std::size_t at = 0; at < packet.size();) {
    const ssize_t sent = write(output_, packet.data() + at, packet.size() - at);
    if (sent < 0 && errno != EINTR) return;
    if (sent > 0) at += static_cast<std::size_t>(sent);
  }
}

bool Packets::interrupted() {
  if (std::exchange(late_interruption_, false)) return true;
  pollfd input = {input_, POLLIN, 0};
  while (poll(&input, 1, 0) == 1) {
    char byte = 0;
    if (read(input_, &byte, 1) != 1) return true;  // gdb has ended
    if (byte == kInterrupt) return true;
    received_ += byte;
  }
  return false;
}

}  // namespace reweave
