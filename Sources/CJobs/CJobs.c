#include "CJobs.h"
#include <stddef.h>

// As the runtime declares them, in Swift's own calling convention.
#define SWIFT_CALL __attribute__((swiftcall))
typedef SWIFT_CALL void (*Enqueue)(void *job);
typedef SWIFT_CALL void (*EnqueueHook)(void *job, Enqueue original);
extern EnqueueHook swift_task_enqueueGlobal_hook;
// The executor is two words, both nothing for the one that belongs to no actor.
extern SWIFT_CALL void swift_job_run(void *job, void *identity, void *implementation);

static _Thread_local void (*taker)(void *context, void *job);
static _Thread_local void *taker_context;

static SWIFT_CALL void enqueue(void *job, Enqueue original) {
  if (taker != NULL) {
    taker(taker_context, job);
  } else {
    original(job);
  }
}

void jobs_begin(void (*take)(void *context, void *job), void *context) {
  taker = take;
  taker_context = context;
  __atomic_store_n(&swift_task_enqueueGlobal_hook, enqueue, __ATOMIC_RELEASE);
}

void jobs_end(void) {
  taker = NULL;
  taker_context = NULL;
}

void jobs_run(void *job) { swift_job_run(job, NULL, NULL); }
