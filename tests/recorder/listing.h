// Lists the code of a file with objdump(1), for comparison with the core's decoders.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace reweave::tests {

struct Listed {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
  std::string text;
};

// Calls `use` for each instruction of `file` that objdump knows, in the order of their addresses within a section.
void for_each_instruction(const std::string& file, const std::function<void(Listed)>& use);

}  // namespace reweave::tests
