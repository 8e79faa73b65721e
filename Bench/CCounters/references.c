// Swift's reference counting and exclusivity checks, counted.
//
// The runtime calls retain and release through function pointers once a flag of its own is set; it is set while
// counting only, so that timed runs take the runtime's short way. The exclusivity check has no such pointer:
// the executable's definition stands before the runtime's.
#define _GNU_SOURCE
#include "counts.h"
#include <dlfcn.h>
#include <stdatomic.h>

__thread bool bench_active;
__thread bench_counts bench_current;

extern void *(*_swift_retain)(void *);
extern void *(*_swift_retain_n)(void *, uint32_t);
extern void *(*_swift_tryRetain)(void *);
extern void (*_swift_release)(void *);
extern void (*_swift_release_n)(void *, uint32_t);
extern _Atomic bool _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly;

static void *(*original_retain)(void *);
static void *(*original_retain_n)(void *, uint32_t);
static void *(*original_try_retain)(void *);
static void (*original_release)(void *);
static void (*original_release_n)(void *, uint32_t);

static void *retain(void *object) {
  if (object && bench_active) bench_current.retains++;
  return original_retain(object);
}

static void *retain_n(void *object, uint32_t count) {
  if (object && bench_active) bench_current.retains++;
  return original_retain_n(object, count);
}

static void *try_retain(void *object) {
  if (object && bench_active) bench_current.retains++;
  return original_try_retain(object);
}

static void release(void *object) {
  if (object && bench_active) bench_current.releases++;
  original_release(object);
}

static void release_n(void *object, uint32_t count) {
  if (object && bench_active) bench_current.releases++;
  original_release_n(object, count);
}

void bench_counting_start(void) {
  if (!original_retain) {
    original_retain = _swift_retain;
    original_retain_n = _swift_retain_n;
    original_try_retain = _swift_tryRetain;
    original_release = _swift_release;
    original_release_n = _swift_release_n;
    _swift_retain = retain;
    _swift_retain_n = retain_n;
    _swift_tryRetain = try_retain;
    _swift_release = release;
    _swift_release_n = release_n;
  }
  bench_current = (bench_counts){0};
  atomic_store(&_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly, true);
  bench_active = true;
}

bench_counts bench_counting_stop(void) {
  bench_active = false;
  atomic_store(&_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly, false);
  return bench_current;
}

void bench_keep(const void *pointer) { __asm__ volatile("" : : "r"(pointer) : "memory"); }

void swift_beginAccess(void *pointer, void *buffer, uintptr_t flags, void *pc) {
  static void (*original)(void *, void *, uintptr_t, void *);
  if (!original) original = (void (*)(void *, void *, uintptr_t, void *))dlsym(RTLD_NEXT, "swift_beginAccess");
  if (bench_active) bench_current.accesses++;
  original(pointer, buffer, flags, pc);
}
