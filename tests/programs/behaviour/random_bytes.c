/* Prints random bytes from getrandom, /dev/urandom and AT_RANDOM. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

static void show(const char* from, const unsigned char* bytes) {
  printf("%s ", from);
  for (int i = 0; i < 16; i++) printf("%02x", bytes[i]);
  printf("\n");
}

int main(void) {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return 1;
  show("getrandom", bytes);
  int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (fd < 0 || read(fd, bytes, sizeof bytes) != sizeof bytes) return 1;
  close(fd);
  show("urandom", bytes);
  show("AT_RANDOM", (const unsigned char*)getauxval(AT_RANDOM));
  return 0;
}
