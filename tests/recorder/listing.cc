#include "tests/recorder/listing.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace reweave::tests {

namespace {

// A line of `objdump -dw`: address, bytes and text between tabs.
bool parse(const std::string& line, Listed& listed) {
  const auto first = line.find(":\t"), second = line.find('\t', first + 2);
  if (first == std::string::npos || second == std::string::npos) return false;
  listed = {std::strtoull(line.c_str(), nullptr, 16), {}, line.substr(second + 1)};
  std::istringstream bytes(line.substr(first + 2, second - first - 2));
  for (std::string byte; bytes >> byte;)
    listed.bytes.push_back(static_cast<std::uint8_t>(std::strtoul(byte.c_str(), nullptr, 16)));
  return !listed.bytes.empty() && listed.text.find("(bad)") == std::string::npos;
}

}  // namespace

void for_each_instruction(const std::string& file, const std::function<void(Listed)>& use) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> listing(popen(("objdump -dw " + file).c_str(), "r"), pclose);
  if (listing == nullptr) throw std::runtime_error("objdump cannot be started");
  std::array<char, 4096> line;
  for (Listed listed; std::fgets(line.data(), line.size(), listing.get()) != nullptr;)
    if (parse(line.data(), listed)) use(listed);
}

}  // namespace reweave::tests
