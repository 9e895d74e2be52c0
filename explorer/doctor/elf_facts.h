// Finds out how a program was built from its sections and symbols.
#pragma once

#include <set>
#include <string>

#include "formats/base/fd.h"

namespace reweave {

struct ElfFacts {
  bool is_elf = false;
  bool is_dynamic = false;     // it requests a dynamic loader
  bool is_compressed = false;  // its debug information is compressed
  bool is_split = false;       // it names .dwo files, which hold most of its debug information
  std::set<std::string> sections;
  std::set<std::string> sanitizers;  // "thread", "address", ...: recognised by the functions that the code calls

  bool has(const char* section) const { return sections.contains(section); }
  bool has_debug_information() const { return has(".debug_info") || has(".zdebug_info"); }
  bool names_debug_file() const { return has(".gnu_debuglink"); }
};

// The file may be hostile: damaged parts count as missing.
ElfFacts facts_of(const Fd& file);

}  // namespace reweave
