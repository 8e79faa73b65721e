#pragma once
#include <stdint.h>

/// What one thread did while it was counted.
typedef struct {
  /// malloc, calloc, realloc, posix_memalign, aligned_alloc, memalign.
  uint64_t allocations;
  uint64_t frees;
  /// Of Swift's reference counting, whichever part of the process asked for it.
  uint64_t retains;
  uint64_t releases;
  /// Swift's checks of exclusive access at run time.
  uint64_t accesses;
} bench_counts;

/// Begins at zero, on this thread. Nothing is counted before, and timing is disturbed only while counting.
void bench_counting_start(void);

/// Ends counting.
bench_counts bench_counting_stop(void);

/// Keeps the optimiser from dropping what a check allocates.
void bench_keep(const void *pointer);
