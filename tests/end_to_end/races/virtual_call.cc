// A virtual call during the object's destruction: a race on the pointer to its virtual functions.
#include <pthread.h>

#include <new>

struct Base {
  virtual ~Base();
  virtual int call();
  int value = 0;
};
struct Derived : Base {
  ~Derived() override;
  int call() override;
};
__attribute__((noinline)) Base::~Base() { value = 1; }
__attribute__((noinline)) int Base::call() { return 1; }
__attribute__((noinline)) Derived::~Derived() { __asm__ volatile(""); }
__attribute__((noinline)) int Derived::call() { return 2; }

static Base* object;

static void* other(void*) {
  object->call();
  return nullptr;
}

alignas(Derived) static char memory[sizeof(Derived)];

int main() {
  pthread_t thread;
  object = new (static_cast<void*>(memory)) Derived;
  pthread_create(&thread, nullptr, other, nullptr);
  object->~Base();
  pthread_join(thread, nullptr);
  return 0;
}
