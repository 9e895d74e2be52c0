// Call stacks that share their common parts: a node is an active function, a path to the root is a stack.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace reweave {

using StackId = std::uint32_t;  // 0: the empty stack

// A place in the code and its call stack.
struct CodePlace {
  std::uint32_t site = 0;
  StackId stack = 0;

  bool operator==(const CodePlace&) const = default;
};

class CallTree {
 public:
  // The stack `from` with the function called at `site` added.
  StackId called(StackId from, std::uint32_t site) {
    const std::uint64_t key = std::uint64_t{from} << 32 | site;
    const auto [it, is_new] = children_.try_emplace(key, static_cast<StackId>(nodes_.size()));
    if (is_new) nodes_.push_back({from, site});
    return it->second;
  }
  StackId parent(StackId stack) const { return nodes_[stack].parent; }
  std::uint32_t site(StackId stack) const { return nodes_[stack].site; }

 private:
  struct Node {
    StackId parent;
    std::uint32_t site;
  };
  std::vector<Node> nodes_ = {{0, 0}};
  std::unordered_map<std::uint64_t, StackId> children_;
};

}  // namespace reweave
