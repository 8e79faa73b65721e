#pragma once

// Valgrind's words to callgrind, which are macros; nothing without its headers, and nothing without valgrind.

/// Counts from here, from zero.
void callgrind_begin(void);
/// Ends counting, and writes what was counted under that name.
void callgrind_end(const char *name);
/// Whether there is somebody to count.
int callgrind_runs(void);
