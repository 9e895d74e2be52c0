/* Pseudo-terminals: attributes, sizes, sessions, line discipline, a child on one, and hanging up. */
#define _GNU_SOURCE
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include "check.h"

static void attributes(int master, int slave) {
  struct termios settings, again;
  struct winsize size = {.ws_row = 40, .ws_col = 133}, seen;
  int value = -1;
  char name[64];
  CHECK(isatty(slave) && tcgetattr(slave, &settings) == 0);
  cfmakeraw(&settings);
  CHECK(tcsetattr(slave, TCSANOW, &settings) == 0 && tcgetattr(slave, &again) == 0 &&
        again.c_lflag == settings.c_lflag);
  CHECK(ioctl(master, TIOCSWINSZ, &size) == 0 && ioctl(slave, TIOCGWINSZ, &seen) == 0 && seen.ws_col == 133);
  CHECK(write(master, "abc", 3) == 3 && poll(&(struct pollfd){slave, POLLIN, 0}, 1, -1) == 1);
  CHECK(ioctl(slave, FIONREAD, &value) == 0 && value == 3);
  CHECK(read(slave, name, 10) == 3 && memcmp(name, "abc", 3) == 0);
  CHECK(ioctl(slave, TIOCOUTQ, &value) == 0 && ioctl(slave, TIOCGETD, &value) == 0 && value == 0);
  CHECK(ttyname_r(slave, name, sizeof name) == 0 && strncmp(name, "/dev/pts/", 9) == 0);
  CHECK(ioctl(master, TIOCGPTN, &value) == 0 && value == atoi(name + 9));
  int peer = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
  CHECK(peer >= 0 && close(peer) == 0);
  CHECK(ioctl(slave, TIOCEXCL) == 0 && ioctl(slave, TIOCNXCL) == 0 && tcflush(slave, TCIOFLUSH) == 0);
  CHECK(tcdrain(slave) == 0 && tcflow(slave, TCOON) == 0 && ioctl(master, TIOCPKT, &(int){0}) == 0);
}

static void not_terminals(void) {
  struct winsize size;
  struct termios settings;
  int ends[2];
  CHECK(pipe(ends) == 0);
  FAILS(ioctl(ends[0], TIOCGWINSZ, &size), ENOTTY);
  FAILS(tcgetattr(ends[0], &settings), ENOTTY);
  FAILS(ioctl(ends[0], 0x1234, &size), ENOTTY);
  FAILS(ioctl(-1, TCGETS, &settings), EBADF);
}

static void child_on_a_terminal(void) {
  int master;
  char text[256];
  ssize_t got, length = 0;
  pid_t child = forkpty(&master, NULL, NULL, NULL);
  if (child == 0) {
    CHECK(getsid(0) == getpid() && tcgetpgrp(0) == getpgrp());
    CHECK(fgets(text, sizeof text, stdin) != NULL);
    printf("got %s", text);
    fflush(stdout);
    _exit(0);
  }
  CHECK(child > 0 && write(master, "line\n", 5) == 5);
  while ((got = read(master, text + length, sizeof text - (size_t)length - 1)) > 0) length += got;
  text[length] = 0;
  CHECK(strstr(text, "got line") != NULL);
  expect_success(child);
  close(master);
}

static void interrupted_from_the_keyboard(void) {
  int master;
  char byte;
  pid_t child = forkpty(&master, NULL, NULL, NULL);
  if (child == 0) {
    CHECK(write(1, "r", 1) == 1);
    for (;;) pause();
  }
  CHECK(read(master, &byte, 1) == 1 && write(master, "\003", 1) == 1);
  int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
  close(master);
}

int main(void) {
  int master, slave;
  CHECK(openpty(&master, &slave, NULL, NULL, NULL) == 0);
  attributes(master, slave);
  not_terminals();
  child_on_a_terminal();
  interrupted_from_the_keyboard();
  puts("terminals");
  return 0;
}
