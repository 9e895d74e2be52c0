#include "explorer/words/github.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "explorer/words/escaping.h"
#include "formats/base/error.h"
#include "formats/base/fd.h"
#include "formats/base/folder.h"

namespace reweave {

namespace {

// Escapes characters that would end a command of the runner or, inside a property, that property.
std::string escaped(const std::string& text, bool is_property) {
  std::string safe;
  for (const char c : plain_text(text)) {
    const bool ends = c == '%' || c == '\n' || c == '\r' || (is_property && (c == ':' || c == ','));
    safe += ends ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return safe;
}

}  // namespace

std::string github_error(const std::string& title, const std::string& message, const std::string& file,
                         std::uint32_t line) {
  std::string place = file.empty() ? "" : fmt::format("file={},", escaped(file, true));
  if (!file.empty() && line != 0) place += fmt::format("line={},", line);
  return fmt::format("::error {}title={}::{}\n", place, escaped(title, true), escaped(message, false));
}

std::string github_verbatim(const std::string& text) {
  std::uint64_t token = 0;  // random, so the text cannot contain it
  SYSCALL_CHECK(::getrandom(&token, sizeof token, 0), "random numbers");
  return fmt::format("::stop-commands::{0:016x}\n{1}\n::{0:016x}::\n", token, text);
}

void require_github() {
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  REQUIRE(path != nullptr && *path != 0, "--github is for jobs of GitHub Actions: there is no GITHUB_STEP_SUMMARY");
}

void append_github_summary(const std::string& markdown) {
  require_github();
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  const Fd file(::open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0600));
  struct stat status {};
  REQUIRE(file.get() >= 0 && ::fstat(file.get(), &status) == 0, "{}: {}", path, std::strerror(errno));
  REQUIRE(S_ISREG(status.st_mode), "{} is not a regular file", path);
  // GitHub accepts one MiB per step.
  constexpr std::size_t kMost = 1'000'000;
  write_fully(file.get(), markdown.size() <= kMost ? markdown : "the summary is too long; see the artifact\n", path);
}

}  // namespace reweave
