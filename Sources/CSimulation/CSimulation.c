#define OPENSSL_SUPPRESS_DEPRECATED
#define _GNU_SOURCE
#include "CSimulation.h"
#include <openssl/rand.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static _Thread_local int64_t virtual_time;
static _Thread_local int has_virtual_time;
static _Thread_local uint64_t random_state;
static _Thread_local int has_seed;

void simulation_set_time(int64_t nanoseconds) {
  virtual_time = nanoseconds;
  has_virtual_time = 1;
}

void simulation_clear_time(void) { has_virtual_time = 0; }

// libssl's only clock. The executable's definition comes before the C library's.
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  if (zone != NULL) memset(zone, 0, sizeof(struct timezone));
  if (has_virtual_time) {
    now->tv_sec = virtual_time / 1000000000;
    now->tv_usec = virtual_time % 1000000000 / 1000;
    return 0;
  }
  struct timespec real;
  if (clock_gettime(CLOCK_REALTIME, &real) != 0) return -1;
  now->tv_sec = real.tv_sec;
  now->tv_usec = real.tv_nsec / 1000;
  return 0;
}

// SplitMix64, as the state machines' own seeded source: good enough to tell keys apart, and repeatable.
static uint64_t next_random(void) {
  random_state += 0x9E3779B97F4A7C15ull;
  uint64_t z = random_state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

static int fill(unsigned char *bytes, int count) {
  if (!has_seed) return RAND_OpenSSL()->bytes(bytes, count);
  while (count > 0) {
    uint64_t word = next_random();
    int size = count < 8 ? count : 8;
    memcpy(bytes, &word, (size_t)size);
    bytes += size;
    count -= size;
  }
  return 1;
}

static int is_seeded(void) { return 1; }

int simulation_install_random(void) {
  static const RAND_METHOD method = {NULL, fill, NULL, NULL, fill, is_seeded};
  return RAND_set_rand_method(&method);
}

void simulation_set_seed(uint64_t seed) {
  random_state = seed;
  has_seed = 1;
}

void simulation_clear_seed(void) { has_seed = 0; }
