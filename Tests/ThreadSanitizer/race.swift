// Two threads count without a lock: what scripts/sanitize-threads wants to see reported before it believes a silence.
import Glibc

nonisolated(unsafe) var count = 0

func add() -> pthread_t {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      for _ in 0..<1_000 { count += 1 }
      return nil
    }, nil)
  return thread
}

for thread in [add(), add()] { pthread_join(thread, nil) }
