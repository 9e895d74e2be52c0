// Finds the operations in a recorded program's code by source line, so that users can name them.
//
// An operation is a call of a function that Reweave replaces, which includes instrumented accesses, or an access with a
// sled in front (recorder/sled_format.h). It is identified by the address after the call or the sled, like
// ChoiceNote::pc.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "explorer/words/places.h"

namespace reweave {

// "FUNCTION:LINE" for a line with one operation, "FUNCTION:LINE.N" for the N-th operation of a line in code order,
// which may differ from execution order, or "FILE+0xOFFSET".
struct CodePlace {
  std::string name;  // function; for an offset, the file of the program or of a library
  int line = 0;      // 0: the place is an offset
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

  // Throws BadInput if there is no such operation, or several.
  std::uint64_t at(const CodePlace& place);
  // The operation's number on its line, from 1; 0 if it is not a known operation.
  unsigned number_of(std::uint64_t pc);
  // The shortest place for which at() returns `pc`.
  CodePlace place_of(std::uint64_t pc);

  // The operations on a line, in code order; may be empty.
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
