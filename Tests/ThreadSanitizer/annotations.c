// What the thread sanitizer can't see of Swift's Mutex: it is a word in memory, taken and given back by atomic operations
// in our own code, which are instrumented, but where threads meet by the kernel (FUTEX_LOCK_PI), called from a library
// which isn't. Loaded before that library by scripts/sanitize-threads, this tells the sanitizer of both.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// Of the sanitizer's runtime, in the tests' executable.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void (*lock_function)(uint32_t thread, SELF);
typedef SWIFT void (*unlock_function)(SELF);

static void *next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void lock_slow(uint32_t thread, SELF) {
  static lock_function original;
  if (!original) original = (lock_function)next(LOCK);
  original(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void unlock_slow(SELF) __asm__(UNLOCK);
SWIFT void unlock_slow(SELF) {
  static unlock_function original;
  if (!original) original = (unlock_function)next(UNLOCK);
  if (__tsan_release) __tsan_release(self);
  original(self);
}
