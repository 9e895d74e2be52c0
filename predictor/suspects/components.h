// Strongly connected components of a graph (Tarjan's algorithm, not recursive).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "predictor/suspects/program_summary.h"

namespace reweave {

// `edge_of(node, i)` is the node that edge i of `node` leads to, `node` itself if the edge does not count, and kNoNode
// after the last edge. `take(members)` receives each component; its last member is the one that was reached first.
template <typename EdgeOf, typename Take>
class ComponentSearch {
 public:
  ComponentSearch(std::size_t nodes, EdgeOf edge_of, Take take)
      : edge_of_(std::move(edge_of)), take_(std::move(take)), index_(nodes), low_(nodes), is_open_(nodes) {}

  // Searches what can be reached from `root` and was not searched before.
  void search_from(std::uint32_t root) {
    if (index_[root] != 0) return;
    enter(root);
    while (!path_.empty()) {
      auto& [node, edge] = path_.back();
      const std::uint32_t to = edge_of_(node, edge++);
      if (to == kNoNode)
        leave();
      else if (index_[to] == 0)
        enter(to);
      else if (is_open_[to])
        low_[node] = std::min(low_[node], index_[to]);
    }
  }

  // The nodes in the order in which the search was done with them.
  std::vector<std::uint32_t>& done() { return done_; }

 private:
  void enter(std::uint32_t node) {
    path_.emplace_back(node, 0);
    index_[node] = low_[node] = ++entered_;
    open_.push_back(node);
    is_open_[node] = true;
  }

  void leave() {
    const std::uint32_t node = path_.back().first;
    path_.pop_back();
    done_.push_back(node);
    if (!path_.empty()) low_[path_.back().first] = std::min(low_[path_.back().first], low_[node]);
    if (low_[node] != index_[node]) return;
    std::vector<std::uint32_t> members;
    while (members.empty() || members.back() != node) {
      members.push_back(open_.back());
      is_open_[open_.back()] = false;
      open_.pop_back();
    }
    take_(std::span<const std::uint32_t>(members));
  }

  EdgeOf edge_of_;
  Take take_;
  std::vector<std::uint32_t> index_, low_;
  std::vector<bool> is_open_;
  std::vector<std::uint32_t> open_, done_;
  std::vector<std::pair<std::uint32_t, std::size_t>> path_;
  std::uint32_t entered_ = 0;
};

}  // namespace reweave
