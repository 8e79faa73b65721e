#pragma once

// Swift's concurrent jobs of one thread: what would go to the pool of threads goes to the thread's own taker instead.
// Threads that have none are left alone.

/// From here on each job that this thread makes ready is handed to `take`, which owes it a `jobs_run`.
void jobs_begin(void (*take)(void *context, void *job), void *context);
/// The thread's jobs go to the pool again.
void jobs_end(void);
/// Runs a job on this thread until it waits or ends.
void jobs_run(void *job);
