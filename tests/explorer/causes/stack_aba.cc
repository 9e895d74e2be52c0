// ABA: a pop reads head and next, other pops and a push make head the same again, and the exchange succeeds.
#include <atomic>
#include <cassert>
#include <thread>
struct Node {
  std::atomic<Node*> next{nullptr};
  bool taken = false;
};
static Node nodes[3];
static std::atomic<Node*> head{nullptr};
static void push(Node* node) {
  node->next = head.load();  //?
  head = node;               //?
}
static Node* pop() {
  Node* top = head.load();  //?
  while (top != nullptr) {
    Node* next = top->next.load();                            //?
    if (head.compare_exchange_strong(top, next)) return top;  //!
  }
  return nullptr;
}
int main() {
  for (Node& node : nodes) push(&node);
  std::thread one([] { pop(); });
  std::thread two([] {
    Node *a = pop(), *b = pop();
    if (a != nullptr && b != nullptr) {
      b->taken = true;
      push(a);
    }
  });
  one.join();
  two.join();
  for (Node* node = head.load(); node != nullptr; node = node->next.load()) assert(!node->taken);
}
