/* A mapped block device: its contents, and writes through the mapping and through descriptors. */
#define _GNU_SOURCE
#include <linux/loop.h>
#include <sys/ioctl.h>
#include "check.h"

enum { kPage = 4096, kBytes = 1 << 20 };

/* Creates a loop device on a new file. Returns -1 where that is not allowed. */
static int make_device(void) {
  char name[] = "/tmp/reweave-block-XXXXXX", path[32];
  const int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0 && ftruncate(file, kBytes) == 0 && pwrite(file, "hello", 5, kPage) == 5);
  const int control = open("/dev/loop-control", O_RDWR);
  for (int tries = 0; control >= 0 && tries < 10; tries++) {
    snprintf(path, sizeof path, "/dev/loop%d", ioctl(control, LOOP_CTL_GET_FREE));
    const int device = open(path, O_RDWR);
    if (device < 0) return -1;
    if (ioctl(device, LOOP_SET_FD, file) == 0) return device; /* if it failed, another process was faster */
    close(device);
  }
  return -1;
}

int main(void) {
  const int device = make_device();
  if (device < 0) {
    puts("no device");
    return 0;
  }
  char* shared = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
  char* own = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, device, 0);
  CHECK(shared != MAP_FAILED && own != MAP_FAILED);
  CHECK(strcmp(shared + kPage, "hello") == 0 && strcmp(own + kPage, "hello") == 0 && own[kBytes - 1] == 0);
  char text[8] = "";
  strcpy(shared, "by map");
  CHECK(pread(device, text, 7, 0) == 7 && strcmp(text, "by map") == 0 && strcmp(own, "by map") == 0);
  CHECK(pwrite(device, "by fd", 6, kBytes - 6) == 6 && strcmp(own + kBytes - 6, "by fd") == 0);
  printf("%s, %s, %s\n", shared, shared + kPage, own + kBytes - 6);
  CHECK(ioctl(device, LOOP_CLR_FD, 0) == 0);
  return 0;
}
