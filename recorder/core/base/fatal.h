// Stops a run that the core cannot continue exactly.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Builds one message in a fixed buffer; longer text is truncated.
class Text {
 public:
  Text& operator<<(const char* s);
  Text& operator<<(std::int64_t value);
  Text& operator<<(std::uint64_t value);
  Text& operator<<(int value) { return *this << static_cast<std::int64_t>(value); }
  Text& operator<<(unsigned value) { return *this << static_cast<std::uint64_t>(value); }
  Text& operator<<(std::uint16_t value) { return *this << static_cast<std::uint64_t>(value); }
  Text& hex(std::uint64_t value);
  const char* c_str() const { return buffer_; }
  std::size_t size() const { return length_; }

 private:
  void put(char c) {
    if (length_ + 1 < sizeof buffer_) buffer_[length_++] = c, buffer_[length_] = 0;
  }
  char buffer_[1500] = {};
  std::size_t length_ = 0;
};

// Leaves the message for the supervisor, which kills every process of the tree; then ends this process.
[[noreturn]] void stop_run(wire::OutcomeKind outcome, const char* message);
[[noreturn]] inline void stop_run(wire::OutcomeKind outcome, const Text& message) {
  stop_run(outcome, message.c_str());
}

// A defect of Reweave itself.
[[noreturn]] void bug(const char* what);

}  // namespace reweave::core
