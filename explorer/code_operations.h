// The operations in the code of a recorded program, by source lines: what a user can name.
//
// An operation is a call of a function that Reweave takes over, as instrumented accesses are, too, or an access with a
// sled in front (recorder/sled_format.h). It is known by where the program goes on behind the call or the sled, as
// ChoiceNote::pc has it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "explorer/places.h"

namespace reweave {

// "FUNCTION:LINE" of a line with one operation, "FUNCTION:LINE.N" (the N-th operation of that line, in the order of the
// code, which need not be that of execution) or "FILE+0xOFFSET".
struct CodePlace {
  std::string name;  // function; file of the program, or of a library
  int line = 0;      // 0: it is an offset
  unsigned number = 0;
  std::uint64_t offset = 0;

  bool operator==(const CodePlace&) const = default;
};
// Throws BadInput.
CodePlace parse_place(const std::string& text);
std::string text_of(const CodePlace& place);

class CodeOperations {
 public:
  explicit CodeOperations(Places& places) : places_(places) {}

  // Throws BadInput if there is none, or if it could be one of several.
  std::uint64_t at(const CodePlace& place);
  // Which operation of its line it is, from 1; 0: none that is known.
  unsigned number_of(std::uint64_t pc);
  // The shortest place for which at() returns `pc`.
  CodePlace place_of(std::uint64_t pc);

  // In the order of the code; none if there are none.
  const std::vector<std::uint64_t>& on_line(const std::string& function, int line);
  // The lines of the function that have operations.
  std::vector<int> lines_of(const std::string& function);

 private:
  void read(const std::string& function);

  Places& places_;
  // By function, and then line.
  std::map<std::string, std::map<int, std::vector<std::uint64_t>>> known_;
  std::map<std::uint64_t, std::string> callees_;
};

}  // namespace reweave
