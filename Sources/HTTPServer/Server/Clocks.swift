internal import Glibc
internal import Model

enum Clocks {
  static func now() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
  }

  /// The time of day, as header fields have it (RFC 9110 §5.6.7).
  static func httpDate() -> String {
    var seconds = time(nil)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
      guard let start = text.baseAddress else { return "" }
      return String(
        decoding: text[..<strftime(start, 32, "%a, %d %b %Y %H:%M:%S GMT", &parts)].map(UInt8.init),
        as: UTF8.self)
    }
  }
}
