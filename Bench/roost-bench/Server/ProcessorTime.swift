import Foundation
import Glibc

/// Processor time that a process has used, all of its threads together, in microseconds.
struct ProcessorTime {
  /// To the nanosecond.
  var total: Double
  /// Of it in the kernel, in steps of 10 ms (proc(5), `stat`).
  var system: Double

  /// - Returns: nil where there is no such process.
  init?(of process: pid_t) {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0,
      let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      // Its name may hold anything; what follows it holds no parenthesis.
      let end = text.lastIndex(of: ")")
    else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 13, let ticks = Double(fields[12]) else { return nil }
    total = Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    system = ticks * 1e6 / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  init(total: Double, system: Double) {
    self.total = total
    self.system = system
  }

  static func - (a: Self, b: Self) -> Self {
    ProcessorTime(total: a.total - b.total, system: a.system - b.system)
  }
}
