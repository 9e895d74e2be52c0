// Two threads give up an object. The count is lowered and tested in two steps, so both may free it, or one may use it
// after the other has freed it.
#include <atomic>
#include <cstdio>
#include <thread>
struct Session {
  std::atomic<int> users{2};
  std::atomic<int> bytes{0};
};
static void leave(Session* session) {
  session->users--;                         //?
  if (session->users == 0) delete session;  //?
}
static void serve(Session* session) {
  session->bytes += 10;  //?
  leave(session);
}
int main() {
  auto* session = new Session;
  std::thread one(serve, session), two(serve, session);
  one.join();
  two.join();
}
