// What a disk does that stands still: while the file that STILL_DISK names is there, nothing below a folder `recordings` is synced.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int fdatasync(int descriptor) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  const char *still = getenv("STILL_DISK");
  if (length > 0 && still) {
    path[length] = 0;
    while (strstr(path, "/recordings/") && access(still, F_OK) == 0) usleep(10000);
  }
  return real(descriptor);
}
