import CCounters

/// Shows that the counters count: a zero of theirs then means something.
enum SelfCheck {
  private final class Probe {
    var value = 0
  }

  static func run() throws(BenchError) {
    let probe = Probe()
    let nothing = count { bench_keep(Unmanaged.passUnretained(probe).toOpaque()) }
    guard nothing.allocations == 0, nothing.retains == 0, nothing.releases == 0, nothing.accesses == 0 else {
      throw .counter("counted \(nothing) where nothing happened")
    }
    let retained = count { _ = Unmanaged.passUnretained(probe).retain() }
    guard retained.retains == 1, retained.releases == 0 else {
      throw .counter("one retain was counted as \(retained.retains)")
    }
    let released = count { Unmanaged.passUnretained(probe).release() }
    guard released.releases == 1, released.retains == 0 else {
      throw .counter("one release was counted as \(released.releases)")
    }
    let allocated = count {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: 100, alignment: 16)
      bench_keep(memory)
      memory.deallocate()
    }
    guard allocated.allocations == 1, allocated.frees == 1 else {
      throw .counter("one allocation was counted as \(allocated.allocations)")
    }
    let accessed = count { change(probe) }
    guard accessed.accesses == 1 else {
      throw .counter("one exclusive access was counted as \(accessed.accesses)")
    }
  }

  /// The pointer that leaves keeps the compiler from proving that nothing else looks.
  @inline(never)
  private static func change(_ probe: Probe) {
    withUnsafeMutablePointer(to: &probe.value) { bench_keep($0) }
  }

  @inline(never)
  private static func count(_ body: () -> Void) -> bench_counts {
    bench_counting_start()
    body()
    return bench_counting_stop()
  }
}
