// Compiled subjects, and the functions of an ELF file by name: for tests that look at code.
#pragma once

#include <elf.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace reweave::test {

// Returns the path of a library, which the build passes in this environment variable.
inline std::string library(const char* variable) {
  const char* path = std::getenv(variable);
  BOOST_REQUIRE_MESSAGE(path != nullptr, variable << " is not set");
  return path;
}

inline std::vector<char> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the address of each function in the symbol table, by name. Does not check the file for damage.
inline std::map<std::string, std::uint64_t> functions_of(const std::string& path) {
  const std::vector<char> bytes = bytes_of(path);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto section = [&](std::size_t number) {
    Elf64_Shdr result;
    std::memcpy(&result, bytes.data() + header.e_shoff + number * sizeof result, sizeof result);
    return result;
  };
  std::map<std::string, std::uint64_t> result;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const char* names = bytes.data() + section(table.sh_link).sh_offset;
    for (std::uint64_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, bytes.data() + table.sh_offset + at, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF)
        result[names + symbol.st_name] = symbol.st_value;
    }
  }
  return result;
}

}  // namespace reweave::test
