// Functions of all kinds to step into, over and out of.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct point {
  int x, y;
};
enum colour { RED, GREEN = 5 };
struct node {
  struct node* next;
  int value;
};

int calls;
char text[32] = "abc";
static struct node* list;
double ratio = 0.5;

int factorial(int n) {
  calls++;
  if (n <= 1) return 1;
  return n * factorial(n - 1);
}

struct point make_point(int x, int y) {
  struct point made = {x, y};
  return made;
}

double half(double value) { return value * ratio; }

const char* greet(const char* name) {
  strcpy(text, "hello ");
  strcat(text, name);
  return text;
}

static void push(int value) {
  struct node* added = malloc(sizeof *added);
  added->next = list;
  added->value = value;
  list = added;
}

enum colour choose(int n) { return n > 2 ? GREEN : RED; }

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

int loop(int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; i++) {
    sum += i;
    push(i);
  }
  return sum;
}

void nothing(void) {}

int main(int argc, char** argv) {
  int numbers[4] = {3, 1, 2, 0};
  int total = factorial(5);
  struct point where = make_point(3, 4);
  double halved = half(5);
  const char* said = greet("you");
  total += loop(4);
  qsort(numbers, 4, sizeof numbers[0], compare);
  nothing();
  total++;
  enum colour chosen = choose(total);
  return total == 127 && where.x == 3 && halved > 2 && said[0] == 'h' && numbers[0] == 0 && chosen == GREEN ? 7 : 1;
}
