// order_structures_benchmark [EVENTS [EDGES]] compares structures that can keep the order between two threads
// (predictor/decide/order_graph.h): speed and memory of a Fenwick tree, a sparse segment tree, and the staircase that
// OrderGraph uses.
//
// Each finds the first event of the other thread that event `a` precedes: the least target of all edges from `a` or a
// later event. Edges arrive as closures add them: nearly in trace order, sometimes far back. Each edge comes with two
// queries.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "predictor/decide/order_graph.h"

using namespace reweave;

namespace {

struct Edge {
  std::uint32_t from, to;
};

std::vector<Edge> edges(std::uint32_t events, std::uint32_t count) {
  std::mt19937_64 random(1);
  std::vector<Edge> result;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint32_t>(std::uint64_t{i} * events / count);
    const auto back = static_cast<std::uint32_t>(random() % 16 == 0 ? random() % (at + 1) : random() % 100);
    const std::uint32_t from = at - std::min(at, back);
    result.push_back({from, std::min(events - 1, from + static_cast<std::uint32_t>(random() % 200))});
  }
  return result;
}

// A Fenwick tree over the reversed positions, which gives the least target of a suffix.
class Fenwick {
 public:
  explicit Fenwick(std::uint32_t events) : least_(events + 1, kNone) {}
  void insert(Edge e) {
    for (auto i = static_cast<std::uint32_t>(least_.size()) - 1 - e.from; i < least_.size(); i += i & (0 - i)) {
      least_[i] = std::min(least_[i], e.to);
    }
  }
  std::uint32_t successor(std::uint32_t from) const {
    std::uint32_t result = kNone;
    for (auto i = static_cast<std::uint32_t>(least_.size()) - 1 - from; i > 0; i -= i & (0 - i)) {
      result = std::min(result, least_[i]);
    }
    return result;
  }
  std::size_t bytes() const { return least_.size() * sizeof least_[0]; }

 private:
  std::vector<std::uint32_t> least_;
};

// A segment tree whose nodes are made when they are needed.
class SparseSegments {
 public:
  explicit SparseSegments(std::uint32_t events) {
    while (width_ < events) width_ *= 2;
  }
  void insert(Edge e) {
    std::uint32_t node = 0;
    for (std::uint32_t low = 0, width = width_;; width /= 2) {
      nodes_[node].least = std::min(nodes_[node].least, e.to);
      if (width == 1) return;
      const bool right = e.from >= low + width / 2;
      if (right) low += width / 2;
      if (nodes_[node].child[right] == 0) {
        nodes_[node].child[right] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({});
      }
      node = nodes_[node].child[right];
    }
  }
  std::uint32_t successor(std::uint32_t from) const {
    std::uint32_t node = 0, result = kNone;
    for (std::uint32_t low = 0, width = width_; width > 1; width /= 2) {
      const Node& now = nodes_[node];
      const bool right = from >= low + width / 2;
      if (!right && now.child[1] != 0) result = std::min(result, nodes_[now.child[1]].least);
      if (right) low += width / 2;
      if (now.child[right] == 0) return result;
      node = now.child[right];
    }
    return std::min(result, nodes_[node].least);
  }
  std::size_t bytes() const { return nodes_.size() * sizeof nodes_[0]; }

 private:
  struct Node {
    std::uint32_t least = kNone;
    std::uint32_t child[2] = {0, 0};
  };
  std::uint32_t width_ = 1;
  std::vector<Node> nodes_{1};
};

class Staircase {
 public:
  explicit Staircase(std::uint32_t) {}
  void insert(Edge e) {
    const bool higher = graph_.insert({0, e.from}, {1, e.to});
    steps_ += higher ? 1 : 0;
  }
  std::uint32_t successor(std::uint32_t from) const { return graph_.successor({0, from}, 1); }
  // An upper bound: OrderGraph drops steps that others imply.
  std::size_t bytes() const { return steps_ * 2 * sizeof(std::uint32_t); }

 private:
  OrderGraph graph_{2};
  std::size_t steps_ = 0;
};

template <typename Structure>
std::uint64_t measure(const char* name, std::uint32_t events, const std::vector<Edge>& all) {
  const auto start = std::chrono::steady_clock::now();
  Structure structure(events);
  std::uint64_t sum = 0;
  for (const Edge& e : all) {
    sum += structure.successor(e.from);
    structure.insert(e);
    sum += structure.successor(e.from / 2);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%-16s %7.0f ns an edge, %8.2f MB\n", name, seconds * 1e9 / static_cast<double>(all.size()),
              static_cast<double>(structure.bytes()) / 1e6);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const auto events = static_cast<std::uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10'000'000);
  const auto count = static_cast<std::uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100'000);
  const auto all = edges(events, count);
  const std::uint64_t fenwick = measure<Fenwick>("Fenwick tree", events, all);
  const std::uint64_t segments = measure<SparseSegments>("segment tree", events, all);
  const std::uint64_t staircase = measure<Staircase>("staircase", events, all);
  return fenwick == segments && segments == staircase ? 0 : (std::puts("the answers differ"), 1);
}
