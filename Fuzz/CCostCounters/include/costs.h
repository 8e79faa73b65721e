#pragma once
#include <stdint.h>

// What one input costs, where all of the program's edges call back: exact, as libFuzzer's own counters of eight bits are
// not.

typedef struct {
  /// Executed edges.
  uint64_t edges;
  /// Bytes that were allocated, whether or not they were freed again.
  uint64_t allocated;
} costs_count;

/// Begins at zero.
void costs_begin(void);
/// Ends counting.
costs_count costs_end(void);
/// Makes of the count what libFuzzer looks for: one feature for each edge and order of magnitude, and one for the input's
/// cost by byte, in steps of 3 %, so that an input that costs more than all before it is kept.
/// - Parameter cost: by byte.
void costs_tell(double cost);
