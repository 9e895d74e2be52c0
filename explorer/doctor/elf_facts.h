// What the sections and symbols of a program say about how it was built.
#pragma once

#include <set>
#include <string>

#include "formats/fd.h"

namespace reweave {

struct ElfFacts {
  bool is_elf = false;
  bool is_dynamic = false;     // it asks for a dynamic loader
  bool is_compressed = false;  // its debug information is
  bool is_split = false;       // it names .dwo files, which hold most of it
  std::set<std::string> sections;
  std::set<std::string> sanitizers;  // "thread", "address", ...: by the symbols that each calls

  bool has(const char* section) const { return sections.contains(section); }
};

// Of a stranger's file: what is damaged is not there.
ElfFacts facts_of(const Fd& file);

}  // namespace reweave
