/* Files in a temporary directory: create, write, read back, stat, list, rename, unlink. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
  char directory[] = "/tmp/reweave-files-XXXXXX", buffer[100], link_text[100];
  struct stat status;
  if (!mkdtemp(directory) || chdir(directory) != 0) return 1;
  printf("directory %s\n", directory);
  int fd = open("one", O_RDWR | O_CREAT | O_EXCL, 0600);
  ssize_t wrote = write(fd, "hello, file", 11);
  off_t at = lseek(fd, 7, SEEK_SET);
  ssize_t got = read(fd, buffer, sizeof buffer);
  printf("fd %d wrote %zd at %ld read %zd '%.*s'\n", fd, wrote, (long)at, got, (int)got, buffer);
  got = pread(fd, buffer, 5, 0);
  wrote = pwrite(fd, "HELLO", 5, 0);
  fstat(fd, &status);
  printf("inode %lu size %ld modified %ld.%09ld\n", (unsigned long)status.st_ino, (long)status.st_size,
         (long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  if (ftruncate(fd, 5) != 0) return 1;
  close(fd);

  FILE* stream = fopen("two", "w+");
  for (int i = 0; i < 100; i++) fprintf(stream, "line %d\n", i);
  rewind(stream);
  int lines = 0;
  while (fgets(buffer, sizeof buffer, stream)) lines++;
  fclose(stream);
  if (symlink("two", "three") != 0 || rename("one", "four") != 0 || mkdir("five", 0700) != 0) return 1;
  got = readlink("three", link_text, sizeof link_text);
  printf("lines %d link to %.*s, one exists %d\n", lines, (int)got, link_text, access("one", F_OK) == 0);

  DIR* list = opendir(".");
  for (struct dirent* entry; (entry = readdir(list));)
    printf("entry %s type %d inode %lu\n", entry->d_name, entry->d_type, (unsigned long)entry->d_ino);
  closedir(list);
  unlink("two");
  unlink("three");
  unlink("four");
  rmdir("five");
  if (!getcwd(buffer, sizeof buffer)) return 1;
  printf("in %s, removed %d\n", buffer, rmdir(directory));
  return 0;
}
