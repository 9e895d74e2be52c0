// A token bucket: one atomic operation tests for a token and removes it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

class Limiter {
 public:
  explicit Limiter(int tokens) : tokens_(tokens) {}
  bool admit() {
    int tokens = tokens_.load();
    while (tokens > 0)
      if (tokens_.compare_exchange_weak(tokens, tokens - 1)) return true;
    return false;
  }

 private:
  std::atomic<int> tokens_;
};

TEST(Limiter, RefusesWithoutTokens) {
  Limiter limiter(0);
  EXPECT_FALSE(limiter.admit());
}

TEST(Limiter, AdmitsOneOfTwo) {
  Limiter limiter(1);
  std::atomic<int> admitted{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; i++) clients.emplace_back([&] { admitted += limiter.admit(); });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(admitted, 1);
}
