#pragma once
#include "CCounters.h"
#include <stdbool.h>

// In the executable's own thread-local block: reading it never allocates.
extern __thread bool bench_active __attribute__((tls_model("local-exec")));
extern __thread bench_counts bench_current __attribute__((tls_model("local-exec")));
