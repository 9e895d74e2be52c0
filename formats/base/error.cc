#include "formats/base/error.h"

#include <cerrno>
#include <cstring>

namespace reweave {

void Error::add_context(std::string_view context) {
  message_ += "\n  while ";
  message_ += context;
}

BadFile::BadFile(std::string path, Damage damage, std::uint64_t block, std::uint64_t offset, std::string_view reason)
    : BadInput(fmt::format("{}: block {} at byte {}: {}", path, block, offset, reason),
               damage == Damage::kTruncated ? kExitTruncated : kExitBadInput),
      path_(std::move(path)),
      damage_(damage),
      block_(block),
      offset_(offset) {}

namespace error_detail {

void throw_check(const char* file, int line, const char* condition, std::string_view message) {
  throw CheckFailed(fmt::format("{}:{}: internal error: {} does not hold{}{}", file, line, condition,
                                message.empty() ? "" : ": ", message));
}

void throw_require(std::string_view message) { throw BadInput(std::string(message)); }

void throw_system(const char* call, std::string_view message) {
  const int number = errno;
  // Users do not need "::open(path.c_str(), O_RDONLY)"; the name of the call is enough.
  std::string_view name(call);
  const std::size_t arguments = name.find('(');
  name = arguments == name.npos ? "" : name.substr(0, arguments);  // a variable's name would not help
  if (name.starts_with("::")) name.remove_prefix(2);
  std::string text;
  for (const std::string_view part : {name, message})
    if (!part.empty()) text += fmt::format("{}: ", part);
  text += std::strerror(number);
  if (number == ENOSPC || number == EDQUOT) text += " (the disk is full: free some space and run again)";
  if (number == EFBIG) text += " (the file-size limit is too low: raise it with ulimit -f, and run again)";
  throw SystemError(std::move(text), number);
}

}  // namespace error_detail
}  // namespace reweave
