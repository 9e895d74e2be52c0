// A token bucket: the test for a token and its removal are two atomic operations.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

class Limiter {
 public:
  explicit Limiter(int tokens) : tokens_(tokens) {}
  bool admit() {
    if (tokens_.load() <= 0) return false;  //!
    tokens_.fetch_sub(1);                   //!
    return true;
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
