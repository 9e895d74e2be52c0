// Errors of all offline code (everything but the code inside the target).
//
// Three macros make messages of one form: CHECK for our bugs, REQUIRE for bad input, SYSCALL_CHECK for errors of the
// operating system. with_context adds context while the exception propagates; only `main` catches it, prints what()
// and leaves with exit_code(). Damage found in a file is a BadFile: it names the file, the block and the reason.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "formats/base/exit_status.h"

namespace reweave {

// Base of all errors: a message, and the contexts it passed through, innermost first.
class Error : public std::exception {
 public:
  Error(std::string message, int exit_code) : message_(std::move(message)), exit_code_(exit_code) {}

  const char* what() const noexcept override { return message_.c_str(); }
  int exit_code() const { return exit_code_; }
  // Appends "  while <context>" on a line of its own.
  void add_context(std::string_view context);

 private:
  std::string message_;
  int exit_code_;
};

// Our bug.
class CheckFailed : public Error {
 public:
  explicit CheckFailed(std::string message) : Error(std::move(message), kExitInternal) {}
};

// The user's input cannot be used.
class BadInput : public Error {
 public:
  explicit BadInput(std::string message, int exit_code = kExitBadInput) : Error(std::move(message), exit_code) {}
};

// The operating system refused.
class SystemError : public Error {
 public:
  SystemError(std::string message, int error_number)
      : Error(std::move(message), kExitSystem), error_number_(error_number) {}
  int error_number() const { return error_number_; }

 private:
  int error_number_;
};

// Kinds of damage of a file. kTruncated: its contents are intact, but the end is missing.
enum class Damage { kTruncated, kCorrupt, kOtherVersion, kWrongType };

// A file is damaged, or is not a file of Reweave. Everything before `offset` was sound. A truncated file has its own
// exit status.
class BadFile : public BadInput {
 public:
  BadFile(std::string path, Damage damage, std::uint64_t block, std::uint64_t offset, std::string_view reason);

  const std::string& path() const { return path_; }
  Damage damage() const { return damage_; }
  std::uint64_t block() const { return block_; }
  std::uint64_t offset() const { return offset_; }

 private:
  std::string path_;
  Damage damage_;
  std::uint64_t block_;
  std::uint64_t offset_;
};

// Thrown by decoders, which do not know the file that their bytes come from; block readers turn it into a BadFile.
class Malformed : public BadInput {
 public:
  explicit Malformed(std::string reason) : BadInput(std::move(reason)) {}
};

namespace error_detail {

[[noreturn]] void throw_check(const char* file, int line, const char* condition, std::string_view message);
[[noreturn]] void throw_require(std::string_view message);
[[noreturn]] void throw_system(const char* call, std::string_view message);

inline std::string text() { return {}; }
template <typename... Args>
std::string text(fmt::format_string<Args...> format, Args&&... args) {
  return fmt::format(format, std::forward<Args>(args)...);
}

}  // namespace error_detail

// Runs `body`. If an Error leaves it, adds `describe()`, which is evaluated only then.
template <typename Body, typename Describe>
decltype(auto) with_context(Describe&& describe, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (Error& error) {
    error.add_context(std::forward<Describe>(describe)());
    throw;
  }
}

}  // namespace reweave

// An invariant of ours. Kept in release builds.
#define CHECK(condition, ...)                                                           \
  do {                                                                                  \
    if (!(condition)) [[unlikely]]                                                      \
      ::reweave::error_detail::throw_check(__FILE__, __LINE__, #condition,              \
                                           ::reweave::error_detail::text(__VA_ARGS__)); \
  } while (false)

// A requirement on the input: the message is for the user and says what to do.
#define REQUIRE(condition, ...)                                                           \
  do {                                                                                    \
    if (!(condition)) [[unlikely]]                                                        \
      ::reweave::error_detail::throw_require(::reweave::error_detail::text(__VA_ARGS__)); \
  } while (false)

// Evaluates to the result of a system call; throws SystemError with errno if it is negative. Example: const int fd =
// SYSCALL_CHECK(::open(path, O_RDONLY), "{}", path);
#define SYSCALL_CHECK(call, ...)                                                                \
  [&] {                                                                                         \
    const auto syscall_result = (call);                                                         \
    if (syscall_result < 0) [[unlikely]]                                                        \
      ::reweave::error_detail::throw_system(#call, ::reweave::error_detail::text(__VA_ARGS__)); \
    return syscall_result;                                                                      \
  }()
