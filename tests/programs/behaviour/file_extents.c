/* ioctl requests that write after their argument, or more than their number says, or nothing. */
#define _GNU_SOURCE
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include "check.h"

static void show_extents(int file) {
  union {
    struct fiemap map;
    char room[sizeof(struct fiemap) + 4 * sizeof(struct fiemap_extent)];
  } query = {.map = {.fm_length = ~0ull, .fm_flags = FIEMAP_FLAG_SYNC, .fm_extent_count = 4}};
  if (ioctl(file, FS_IOC_FIEMAP, &query) != 0) { /* not every file system has it */
    printf("no extents: %d\n", errno);
    return;
  }
  for (unsigned i = 0; i < query.map.fm_mapped_extents; i++)
    printf("%llu at %llu, flags %x\n", (unsigned long long)query.map.fm_extents[i].fe_length,
           (unsigned long long)query.map.fm_extents[i].fe_physical, query.map.fm_extents[i].fe_flags);
}

int main(void) {
  char text[8192], path[] = "/tmp/reweave-extents-XXXXXX";
  const int file = mkstemp(path);
  memset(text, 'a', sizeof text);
  CHECK(file >= 0 && unlink(path) == 0 && write(file, text, sizeof text) == (ssize_t)sizeof text);
  show_extents(file);
  CHECK(ioctl(file, 0x5382, text) == -1); /* an old CD request, whose number has no size */
  const int tunnel = open("/dev/net/tun", O_RDWR);
  char interface[40] = {0};
  interface[16] = 1; /* IFF_TUN */
  if (tunnel >= 0 && ioctl(tunnel, 0x400454ca /* TUNSETIFF */, interface) == 0) printf("%s\n", interface);
  puts("asked");
  return 0;
}
