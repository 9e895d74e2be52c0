// The summary of a module, which reweave-cc puts into the section `reweave_summary` of an object file; the static
// analysis of `reweave suspects` reads it. The linker puts the summaries of all modules one after the other. The
// section is not loaded.
//
// A number is LEB128; a signed number is zigzagged; a text is its length and its bytes. Indexes begin at 0.
//
//   module    : kSummaryMagic, 4 bytes length of the rest (little-endian), the rest:
//   rest      : texts: count, each a text
//               symbols: count, each: text of its name, SymbolFlags, bytes of its object;
//                 if it is a variable defined here:
//                   pointers in its initial value: count, each: offset, symbol, signed offset in that
//                   members: count, each: offset, text of the name within the object
//                   file, line
//               places: count, each: text of the file, line, text of the function, place of the call that it was
//               inlined
//                 at plus 1 (0: not inlined)
//               functions: count, each: symbol, number of parameters, number of nodes, blocks: count, each: successors:
//                 count, each a block; operations: count, each below
//   operation : SummaryOp, and what it says there
//   operand   : a number: 0: nothing that could be a pointer; 1 + 3 * node; 2 + 3 * symbol: its address;
//               3 + 3 * symbol, signed offset: an address within it
//
// A node is a value of the function; parameters come first. Offsets leave out indexes of arrays: all elements of an
// array are one.
#pragma once

#include <cstdint>

namespace reweave {

inline constexpr char kSummarySection[] = "reweave_summary";
inline constexpr char kSummaryMagic[] = "RWS1";  // changes with the format

enum SymbolFlags : std::uint8_t {
  kFunctionSymbol = 1,
  kDefinedSymbol = 2,
  kInternalSymbol = 4,     // its name means something else in other modules
  kThreadLocalSymbol = 8,  // each thread has its own
  kConstantSymbol = 16,    // never written
};

// `node` + 1 stands for a node that receives a result, 0 for none.
enum class SummaryOp : std::uint8_t {
  kCopy = 1,     // node, operand
  kField,        // node, operand, signed offset: an address within the same object
  kElement,      // node, operand, operand of the index, signed offset: the same, where an index of an array varies
  kStackObject,  // node, bytes, place
  kLoad,         // node + 1, operand of the address, bytes, AccessFlags, place
  kStore,        // operand of the address, operand of the value, bytes, AccessFlags, place
  kCall,         // node + 1, operand of the function, count of arguments, operands, place
  kReturn,       // operand; each block at whose end the function returns has one
  kCopyBlock,    // operands of the destination and the source, bytes (0: not known), place
  kSetBlock,     // operand of the destination, bytes (0: not known), place
};

enum AccessFlags : std::uint8_t {
  kAtomicAccess = 1,
  kUpdateAccess = 2,   // a store that also reads
  kPrivateAccess = 4,  // no other thread can see it
};

}  // namespace reweave
