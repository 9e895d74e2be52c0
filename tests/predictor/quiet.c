/* quiet KIND runs a correct program of a kind that an analysis easily mistakes for a bug. quiet_check.py says how few
   findings may be worth reading. Without KIND, prints all kinds. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, ROUNDS = 6 };
static int counter, total;

static void run(int threads, void* (*body)(void*)) {
  pthread_t all[THREADS];
  for (long i = 0; i < threads; i++) pthread_create(&all[i], NULL, body, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
}

/* A hand-written spin lock. */
static atomic_flag spin = ATOMIC_FLAG_INIT;
static void* spinning(void* argument) {
  for (int i = 0; i < ROUNDS; i++) {
    while (atomic_flag_test_and_set_explicit(&spin, memory_order_acquire)) sched_yield();
    counter++;
    atomic_flag_clear_explicit(&spin, memory_order_release);
  }
  return argument;
}
static void spin_lock(void) {
  run(THREADS, spinning);
  assert(counter == THREADS * ROUNDS);
}

/* A test-and-test-and-set lock: a load before the exchange. */
static atomic_int taken;
static void* looking(void* argument) {
  for (int i = 0; i < ROUNDS; i++) {
    int expected;
    do {
      while (atomic_load_explicit(&taken, memory_order_relaxed)) sched_yield();
      expected = 0;
    } while (!atomic_compare_exchange_weak(&taken, &expected, 1));
    counter++;
    atomic_store_explicit(&taken, 0, memory_order_release);
  }
  return argument;
}
static void look_lock(void) {
  run(THREADS, looking);
  assert(counter == THREADS * ROUNDS);
}

/* A semaphore of one unit, made from an atomic. */
static atomic_int units = 1;
static void* with_unit(void* argument) {
  for (int i = 0; i < ROUNDS; i++) {
    for (;;) {
      int now = atomic_load(&units);
      if (now > 0 && atomic_compare_exchange_strong(&units, &now, now - 1)) break;
      sched_yield();
    }
    counter++;
    atomic_fetch_add(&units, 1);
  }
  return argument;
}
static void atomic_semaphore(void) {
  run(THREADS, with_unit);
  assert(counter == THREADS * ROUNDS);
}

/* A semaphore of one unit, made from a mutex and an int. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int plain_units = 1;
static int take_unit(void) {
  pthread_mutex_lock(&mutex);
  int got = plain_units > 0;
  if (got) plain_units--;
  pthread_mutex_unlock(&mutex);
  return got;
}
static void* with_plain_unit(void* argument) {
  for (int i = 0; i < ROUNDS; i++) {
    while (!take_unit()) sched_yield();
    counter++;
    pthread_mutex_lock(&mutex);
    plain_units++;
    pthread_mutex_unlock(&mutex);
  }
  return argument;
}
static void mutex_semaphore(void) {
  run(THREADS, with_plain_unit);
  assert(counter == THREADS * ROUNDS);
}

/* A hand-written reader-writer lock that counts readers and writers. */
static int readers, writing;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void* reads_or_writes(void* argument) {
  for (int i = 0; i < ROUNDS; i++) {
    if (argument == NULL) {
      pthread_mutex_lock(&mutex);
      while (readers > 0 || writing) pthread_cond_wait(&changed, &mutex);
      writing = 1;
      pthread_mutex_unlock(&mutex);
      counter++;
      pthread_mutex_lock(&mutex);
      writing = 0;
      pthread_cond_broadcast(&changed);
      pthread_mutex_unlock(&mutex);
    } else {
      pthread_mutex_lock(&mutex);
      while (writing) pthread_cond_wait(&changed, &mutex);
      readers++;
      pthread_mutex_unlock(&mutex);
      int seen = counter;
      assert(seen >= 0);
      pthread_mutex_lock(&mutex);
      if (--readers == 0) pthread_cond_broadcast(&changed);
      pthread_mutex_unlock(&mutex);
    }
  }
  return argument;
}
static void reader_writer(void) {
  run(THREADS, reads_or_writes);
  assert(counter == ROUNDS);
}

/* A ring buffer with one producer and one consumer. */
enum { SLOTS = 4 };
static int slots[SLOTS];
static atomic_uint head, tail;
static void* ring_end(void* argument) {
  for (unsigned i = 0; i < 3 * ROUNDS; i++) {
    if (argument == NULL) {
      while (i - atomic_load_explicit(&tail, memory_order_acquire) == SLOTS) sched_yield();
      slots[i % SLOTS] = (int)i;
      atomic_store_explicit(&head, i + 1, memory_order_release);
    } else {
      while (atomic_load_explicit(&head, memory_order_acquire) == i) sched_yield();
      total += slots[i % SLOTS];
      atomic_store_explicit(&tail, i + 1, memory_order_release);
    }
  }
  return argument;
}
static void ring(void) { run(2, ring_end); }

/* A ticket lock. */
static atomic_uint next_ticket, serving;
static void* queueing(void* argument) {
  for (int i = 0; i < ROUNDS; i++) {
    unsigned mine = atomic_fetch_add(&next_ticket, 1);
    while (atomic_load_explicit(&serving, memory_order_acquire) != mine) sched_yield();
    counter++;
    atomic_store_explicit(&serving, mine + 1, memory_order_release);
  }
  return argument;
}
static void ticket_lock(void) {
  run(THREADS, queueing);
  assert(counter == THREADS * ROUNDS);
}

/* Statistics. */
static atomic_long events, largest, bytes;
static void* counting(void* argument) {
  for (long i = 0; i < ROUNDS; i++) {
    atomic_fetch_add_explicit(&events, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes, 10 * i, memory_order_relaxed);
    long seen = atomic_load_explicit(&largest, memory_order_relaxed);
    while (seen < i && !atomic_compare_exchange_weak(&largest, &seen, i)) {
    }
  }
  if (argument == NULL) printf("%ld so far\n", atomic_load(&events));
  return argument;
}
static void statistics(void) {
  run(THREADS, counting);
  assert(events == THREADS * ROUNDS && largest == ROUNDS - 1);
}

/* Double-checked initialisation, with acquire and release. */
struct object {
  int value;
};
static _Atomic(struct object*) instance;
static struct object* get(void) {
  struct object* there = atomic_load_explicit(&instance, memory_order_acquire);
  if (there != NULL) return there;
  pthread_mutex_lock(&mutex);
  there = atomic_load_explicit(&instance, memory_order_relaxed);
  if (there == NULL) {
    there = malloc(sizeof *there);
    there->value = 42;
    atomic_store_explicit(&instance, there, memory_order_release);
  }
  pthread_mutex_unlock(&mutex);
  return there;
}
static void* getting(void* argument) {
  for (int i = 0; i < ROUNDS; i++) assert(get()->value == 42);
  return argument;
}
static void double_checked(void) { run(THREADS, getting); }

/* A condition variable whose predicate is checked in a loop. */
static int ready;
static void* waits_for_it(void* argument) {
  if (argument == NULL) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  } else {
    pthread_mutex_lock(&mutex);
    while (!ready) pthread_cond_wait(&changed, &mutex);
    total++;
    pthread_mutex_unlock(&mutex);
  }
  return argument;
}
static void predicate(void) {
  run(THREADS, waits_for_it);
  assert(total == THREADS - 1);
}

/* A thread pool with a queue, a count of unfinished jobs, and a shutdown. */
struct job {
  struct job* next;
  int number;
};
static struct job* jobs;
static int undone, stopping, sum;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static void* worker(void* argument) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (jobs == NULL && !stopping) pthread_cond_wait(&more, &mutex);
    if (jobs == NULL) {
      pthread_mutex_unlock(&mutex);
      return argument;
    }
    struct job* mine = jobs;
    jobs = mine->next;
    pthread_mutex_unlock(&mutex);
    int result = mine->number * 2;
    free(mine);
    pthread_mutex_lock(&mutex);
    sum += result;
    if (--undone == 0) pthread_cond_signal(&done);
    pthread_mutex_unlock(&mutex);
  }
}
static void pool(void) {
  pthread_t all[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&all[i], NULL, worker, NULL);
  for (int i = 1; i <= 2 * ROUNDS; i++) {
    struct job* job = malloc(sizeof *job);
    job->number = i;
    pthread_mutex_lock(&mutex);
    job->next = jobs;
    jobs = job;
    undone++;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&mutex);
  }
  pthread_mutex_lock(&mutex);
  while (undone > 0) pthread_cond_wait(&done, &mutex);
  stopping = 1;
  pthread_cond_broadcast(&more);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < THREADS; i++) pthread_join(all[i], NULL);
  assert(sum == 2 * ROUNDS * (2 * ROUNDS + 1));
}

/* A configuration that is replaced as a whole. Old ones are released at the end. */
struct config {
  int low, high;
  struct config* older;
};
static _Atomic(struct config*) current;
static void* configured(void* argument) {
  for (int i = 1; i <= ROUNDS; i++) {
    struct config* seen = atomic_load_explicit(&current, memory_order_acquire);
    assert(seen->high == seen->low + 10);
    if (argument != NULL) continue;
    struct config* fresh = malloc(sizeof *fresh);
    fresh->low = i;
    fresh->high = i + 10;
    fresh->older = seen;
    atomic_store_explicit(&current, fresh, memory_order_release);
  }
  return argument;
}
static void exchanged(void) {
  static struct config first = {0, 10, NULL};
  current = &first;
  run(THREADS, configured);
  for (struct config* each = current; each->older != NULL;) {
    struct config* older = each->older;
    free(each);
    each = older;
  }
}

/* Whoever gives up the last reference releases the object. */
struct shared {
  atomic_int references;
  int value;
};
static struct shared* object;
static void put(struct shared* given) {
  if (atomic_fetch_sub_explicit(&given->references, 1, memory_order_acq_rel) == 1) free(given);
}
static void* referring(void* argument) {
  for (int i = 0; i < 2; i++) {
    atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
    assert(object->value == 7);
    put(object);
  }
  put(object);
  return argument;
}
static void reference_count(void) {
  object = malloc(sizeof *object);
  atomic_init(&object->references, THREADS + 1);
  object->value = 7;
  struct shared* mine = object;
  run(THREADS, referring);
  put(mine);
}

/* A lock-free stack. Popped nodes are released only at the end. */
struct node {
  struct node *next, *kept;
  int value;
};
static _Atomic(struct node*) top;
static void* pushing(void* argument) {
  for (int i = 0; i < ROUNDS; i++) {
    struct node* fresh = malloc(sizeof *fresh);
    fresh->value = i;
    fresh->next = atomic_load(&top);
    while (!atomic_compare_exchange_weak(&top, &fresh->next, fresh)) {
    }
  }
  return argument;
}
static void stack(void) {
  run(THREADS, pushing);
  int nodes = 0;
  for (struct node* each = top; each != NULL; nodes++) {
    struct node* next = each->next;
    free(each);
    each = next;
  }
  assert(nodes == THREADS * ROUNDS);
}

/* A sequence lock. Even: no thread writes. Values read count only if the sequence has not changed meanwhile. */
static atomic_uint sequence;
static atomic_int left, right;
static void* seqlock_use(void* argument) {
  for (int i = 1; i <= ROUNDS; i++) {
    if (argument == NULL) {
      atomic_fetch_add(&sequence, 1);
      atomic_store_explicit(&left, i, memory_order_relaxed);
      atomic_store_explicit(&right, -i, memory_order_relaxed);
      atomic_fetch_add(&sequence, 1);
    } else {
      unsigned before, after;
      int sum_of_both;
      do {
        before = atomic_load(&sequence);
        sum_of_both = atomic_load(&left) + atomic_load(&right);
        after = atomic_load(&sequence);
        if (before != after || before % 2 != 0) sched_yield();
      } while (before != after || before % 2 != 0);
      assert(sum_of_both == 0);
    }
  }
  return argument;
}
static void seqlock(void) { run(THREADS, seqlock_use); }

/* A thread that an atomic flag tells to stop. */
static atomic_int stop;
static void* until_stopped(void* argument) {
  long mine = 0;
  while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
    mine++;
    sched_yield();
  }
  pthread_mutex_lock(&mutex);
  total += mine > 0;
  pthread_mutex_unlock(&mutex);
  return argument;
}
static void stop_flag(void) {
  pthread_t other;
  pthread_create(&other, NULL, until_stopped, NULL);
  for (int i = 0; i < 5; i++) sched_yield();
  atomic_store_explicit(&stop, 1, memory_order_relaxed);
  pthread_join(other, NULL);
}

static const struct kind {
  const char* name;
  void (*run)(void);
} kinds[] = {{"spin-lock", spin_lock},
             {"look-lock", look_lock},
             {"atomic-semaphore", atomic_semaphore},
             {"mutex-semaphore", mutex_semaphore},
             {"reader-writer", reader_writer},
             {"ring", ring},
             {"ticket-lock", ticket_lock},
             {"statistics", statistics},
             {"double-checked", double_checked},
             {"predicate", predicate},
             {"pool", pool},
             {"exchanged", exchanged},
             {"reference-count", reference_count},
             {"stack", stack},
             {"seqlock", seqlock},
             {"stop-flag", stop_flag}};

int main(int argc, char** argv) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (argc == 1)
      puts(kinds[i].name);
    else if (strcmp(kinds[i].name, argv[1]) == 0)
      kinds[i].run();
  }
  return 0;
}
