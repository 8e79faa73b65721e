#pragma once
#include <stdint.h>

// The clock and the randomness that OpenSSL sees, for the calling thread alone. Linking this into an executable
// replaces gettimeofday(); threads that set nothing get the real ones.

/// Wall time in nanoseconds since 1970 that gettimeofday() tells this thread from now on.
void simulation_set_time(int64_t nanoseconds);
/// Gives the thread the real clock back.
void simulation_clear_time(void);

/// Puts the generator below in front of OpenSSL's, once in a process.
/// Returns 1 if it is in place.
int simulation_install_random(void);
/// Begins the thread's sequence of random bytes, which depends on the seed alone.
void simulation_set_seed(uint64_t seed);
/// Gives the thread the real randomness back.
void simulation_clear_seed(void);
