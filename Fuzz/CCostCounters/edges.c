// The linker puts these in place of libFuzzer's own functions of the same names, which only complain (`--wrap`).
#include "costs.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { most = 1 << 19, edge_features = 1 << 15, cost_features = 1 << 10 };

// libFuzzer reads and clears it: each byte is eight features, by the number's order.
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t features[edge_features + cost_features];

static uint32_t counts[most];
static uint32_t touched[most];
static uint32_t touched_count;
static uint32_t guards;
static uint64_t edges;
bool costs_active;
uint64_t costs_allocated;

void __wrap___sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
  if (start == stop || *start) return;
  for (uint32_t *guard = start; guard < stop; guard++) *guard = ++guards < most ? guards : most - 1;
}

void __wrap___sanitizer_cov_trace_pc_guard(uint32_t *guard) {
  if (!costs_active) return;
  edges++;
  uint32_t *count = &counts[*guard];
  if (*count == 0) touched[touched_count++] = *guard;
  ++*count;
}

void costs_begin(void) {
  for (uint32_t index = 0; index < touched_count; index++) counts[touched[index]] = 0;
  touched_count = 0;
  edges = 0;
  costs_allocated = 0;
  costs_active = true;
}

costs_count costs_end(void) {
  costs_active = false;
  return (costs_count){edges, costs_allocated};
}

void costs_tell(double cost) {
  // The first number of each of libFuzzer's ranges.
  static const uint8_t ranges[] = {1, 2, 3, 4, 8, 16, 32, 128};
  for (uint32_t index = 0; index < touched_count; index++) {
    uint32_t guard = touched[index], order = 0;
    for (uint32_t count = counts[guard]; count > 1 && order < 7; count >>= 2) order++;
    features[guard % edge_features] |= ranges[order];
  }
  if (cost <= 0) return;
  double level = log(cost * 1000 + 1) / log(1.03);
  features[edge_features + (level < cost_features ? (uint32_t)level : cost_features - 1)] = 1;
}
