// The library that loads.c loads.
int plugin_calls;
static __thread int plugin_mine = 4;

int plugin_twice(int value) {
  plugin_calls++;
  plugin_mine += value;
  return 2 * value;
}
