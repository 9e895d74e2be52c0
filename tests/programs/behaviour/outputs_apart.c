/* Calls that write more than their number or their argument says, or elsewhere: socket filters, file handles, and ioctl
 * requests that point to a buffer. Skips what the kernel or the file system does not support. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fsmap.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "check.h"

static unsigned long sum_of(const void* memory, size_t bytes) {
  unsigned long sum = 0;
  for (size_t i = 0; i < bytes; i++) sum = sum * 31 + ((const unsigned char*)memory)[i];
  return sum;
}

static void check_filters(void) {
  struct sock_filter filters[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                                  {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 42},
                                  {BPF_RET | BPF_K, 0, 0, 0},
                                  {BPF_RET | BPF_K, 0, 0, 0xffff}};
  struct sock_fprog program = {4, filters};
  struct sock_filter got[4];
  socklen_t count = 4;
  const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  CHECK(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0);
  CHECK(getsockopt(fd, SOL_SOCKET, SO_GET_FILTER, got, &count) == 0 && count == 4);
  CHECK(memcmp(got, filters, sizeof filters) == 0);
  count = 0;
  CHECK(getsockopt(fd, SOL_SOCKET, SO_GET_FILTER, got, &count) == 0 && count == 4);
}

static void show_mount(void) {
  union {
    struct file_handle handle;
    char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } place;
  unsigned long mount = ~0ul;
  place.handle.handle_bytes = MAX_HANDLE_SZ;
  const long unique = 1; /* AT_HANDLE_MNT_ID_UNIQUE */
  if (syscall(SYS_name_to_handle_at, AT_FDCWD, ".", &place, &mount, unique) == 0)
    printf("mount %lx handle %lx\n", mount, sum_of(place.room, 8 + place.handle.handle_bytes));
}

static void show_pages(void) {
  struct {
    unsigned long bytes, flags, start, end, walked, vector, room, most, inverted, all, any, returned;
  } scan = {.bytes = sizeof scan};
  struct {
    unsigned long start, end, categories;
  } found[8] = {{0, 0, 0}};
  enum { kPresent = 1 << 3 };
  char* memory = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int fd = open("/proc/self/pagemap", O_RDONLY);
  memory[4096] = memory[3 * 4096] = 1;
  scan.start = (unsigned long)memory;
  scan.end = scan.start + (1 << 16);
  scan.vector = (unsigned long)found;
  scan.room = 8;
  scan.all = scan.returned = kPresent;
  const int n = ioctl(fd, _IOWR('f', 16, __typeof__(scan)), &scan);
  for (int i = 0; i < n; i++) printf("pages %lx to %lx\n", found[i].start - scan.start, found[i].end - scan.start);
}

static void show_space(void) {
  enum { kCount = 4 };
  struct fsmap_head* map = calloc(1, sizeof *map + kCount * sizeof(struct fsmap));
  struct fsmap* last = &map->fmh_keys[1];
  last->fmr_device = last->fmr_flags = ~0u;
  last->fmr_physical = last->fmr_owner = last->fmr_offset = ~0ull;
  map->fmh_count = kCount;
  if (ioctl(open(".", O_RDONLY), FS_IOC_GETFSMAP, map) == 0)
    printf("space %lx\n", sum_of(map->fmh_recs, kCount * sizeof(struct fsmap)));
}

static void show_comparison(void) {
  union {
    struct file_dedupe_range range;
    char room[sizeof(struct file_dedupe_range) + sizeof(struct file_dedupe_range_info)];
  } place;
  char name[] = "outputs_apart_XXXXXX";
  const int fd = mkstemp(name);
  CHECK(fd >= 0 && unlink(name) == 0 && ftruncate(fd, 1 << 16) == 0);
  memset(&place, 0, sizeof place);
  place.range.src_length = 4096;
  place.range.dest_count = 1;
  place.range.info[0].dest_fd = fd;
  place.range.info[0].dest_offset = 8192;
  place.range.info[0].status = 77;
  if (ioctl(fd, FIDEDUPERANGE, &place) == 0) printf("comparison %d\n", place.range.info[0].status);
}

int main(void) {
  check_filters();
  show_mount();
  show_pages();
  show_space();
  show_comparison();
  puts("shown");
  return 0;
}
