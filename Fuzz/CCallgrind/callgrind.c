#include "callgrind_requests.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>

void callgrind_begin(void) {
  // What goes before runs at valgrind's own pace.
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}

void callgrind_end(const char *name) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}

int callgrind_runs(void) { return RUNNING_ON_VALGRIND != 0; }
#else
void callgrind_begin(void) {}
void callgrind_end(const char *name) { (void)name; }
int callgrind_runs(void) { return 0; }
#endif
