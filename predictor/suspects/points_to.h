// The memory that each pointer of a program may point to: an analysis by inclusion (Andersen, 1994). It tells fields of
// objects apart, but neither orders nor callers.
//
// Memory is objects: variables, functions, and one object for each place of the program that makes blocks or variables
// on the stack, or starts threads. A cell is an offset in an object. All elements of an array are one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "predictor/suspects/program_summary.h"

namespace reweave {

using CellId = std::uint32_t;

struct MemoryObject {
  enum class Kind : std::uint8_t { kVariable, kFunction, kStack, kHeap, kThread };
  Kind kind;
  std::uint32_t symbol = 0;    // of a variable or function
  std::uint32_t function = 0;  // that makes a stack object, block or thread
  std::uint32_t place = 0;     // likewise
  std::uint64_t bytes = 0;     // 0: not known
  std::map<std::uint64_t, CellId> cells = {};
};

struct MemoryCell {
  std::uint32_t object;
  std::uint64_t offset;
};

// A step that starts threads.
struct ThreadStart {
  std::uint32_t function;
  const SummaryStep* step;
  std::uint32_t object;        // that stands for the threads
  std::uint32_t entry;         // a node: the functions in which they begin
  std::vector<Operand> given;  // operands of `function`: what they receive
};

class PointsTo {
 public:
  // Solves. `program` must outlive this object.
  explicit PointsTo(const ProgramSummary& program);

  const std::vector<MemoryObject>& objects() const { return objects_; }
  const MemoryCell& cell(CellId id) const { return cells_[id]; }
  const std::vector<ThreadStart>& starts() const { return starts_; }

  // The cells that the operand, a value of `function`, may point to; sorted.
  std::vector<CellId> targets(std::uint32_t function, const Operand& operand) const;
  // The cells that the contents of the cell may point to; sorted.
  const std::vector<CellId>& contents(CellId cell) const;
  // The functions that a call may call, but no external ones.
  std::vector<std::uint32_t> callees(std::uint32_t function, const SummaryStep& call) const;
  // The functions that the threads of a start begin in.
  std::vector<std::uint32_t> entries(const ThreadStart& start) const;
  // The object that the step makes, a block or threads; none if it makes no object.
  std::optional<std::uint32_t> object_of(const SummaryStep& step) const;

 private:
  using NodeId = std::uint32_t;

  struct Node {
    std::vector<CellId> targets, fresh;  // sorted; `fresh` have not been passed on
    std::vector<NodeId> copies;          // sorted: nodes that receive the same
    std::vector<NodeId> loads, stores;   // nodes that receive from, or give to, what this one points to
    struct Field {
      NodeId to;
      std::int64_t offset;
    };
    std::vector<Field> fields;
    struct Block {
      NodeId other;
      bool is_source;
    };
    std::vector<Block> blocks;         // copied between what this node and the other point to
    std::vector<std::uint32_t> calls;  // indexes into calls_: this node is what is called
    bool is_waiting = false;
  };
  struct Call {
    NodeId result;                  // kNoNode: unused
    std::vector<NodeId> arguments;  // kNoNode: not a pointer
  };

  NodeId new_node();
  NodeId find(NodeId node) const;
  NodeId node_of(std::uint32_t function, const Operand& operand);
  NodeId node_of_cell(CellId cell) const { return cell_nodes_[cell]; }
  CellId cell_at(std::uint32_t object, std::int64_t offset);
  NodeId result_of(std::uint32_t function, const SummaryStep& step);
  NodeId loaded(NodeId from);
  std::uint32_t make_object(const SummaryStep& step, std::uint32_t function, MemoryObject::Kind kind,
                            std::uint64_t bytes);
  void add_symbols();
  void add_function(std::uint32_t function);
  void add_step(std::uint32_t function, const SummaryStep& step);
  void add_call(std::uint32_t function, const SummaryStep& step);
  bool add_known_call(std::uint32_t function, const SummaryStep& step, const std::string& name);
  void add_start(std::uint32_t function, const SummaryStep& step, NodeId entry, std::vector<Operand> given,
                 std::vector<NodeId> arguments);
  void add_callee(NodeId callee, Call call);
  void bind(const Call& call, std::uint32_t callee);
  void add_target(NodeId node, CellId cell);
  void add_copy(NodeId from, NodeId to);
  void take(NodeId to, const std::vector<CellId>& cells);
  void wait(NodeId node);
  void solve();
  void pass_on(NodeId node);
  void copy_block(CellId to, CellId from);
  void ignore_growing_offsets();
  void merge_cycles();
  std::vector<std::pair<NodeId, NodeId>> cycles(bool with_fields) const;
  void merge(NodeId into, NodeId from);

  const ProgramSummary& program_;
  std::vector<MemoryObject> objects_;
  std::vector<MemoryCell> cells_;
  std::vector<NodeId> cell_nodes_;
  std::vector<Node> nodes_;
  mutable std::vector<NodeId> parents_;  // of nodes that were merged into others
  std::vector<NodeId> first_nodes_;      // of each function
  std::vector<NodeId> returns_;          // the result of each function
  std::vector<std::uint32_t> symbol_objects_;
  std::map<std::pair<std::uint32_t, std::int64_t>, NodeId> address_nodes_;  // of symbols
  std::unordered_map<const SummaryStep*, std::uint32_t> step_objects_;
  std::vector<Call> calls_;
  std::vector<ThreadStart> starts_;
  std::deque<NodeId> waiting_;
};

}  // namespace reweave
