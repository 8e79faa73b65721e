internal import CSystem
internal import Glibc
internal import Model
internal import Simulation

/// Carries packets between two devices until standard input ends.
struct LinkRun: ~Copyable {
  /// Packets that are read from a device before others have their turn.
  private static let batch = 64
  private static let longestLine = 4_096

  private let here: TunDevice
  private let there: TunDevice
  private var link: EmulatedLink
  /// Packets that a device didn't take, of each direction.
  private var refusedDown: UInt64 = 0
  private var refusedUp: UInt64 = 0
  private var input: [UInt8] = []
  private var hasEnded = false

  init(here: consuming TunDevice, there: consuming TunDevice, link: consuming EmulatedLink) {
    self.here = here
    self.there = there
    self.link = link
  }

  mutating func run() {
    _ = fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK)
    say("ready \(here.name) \(there.name)")
    while !hasEnded {
      wait()
      for _ in 0..<Self.batch {
        guard let packet = here.read() else { break }
        link.take(packet, .down, now: Self.now)
      }
      for _ in 0..<Self.batch {
        guard let packet = there.read() else { break }
        link.take(packet, .up, now: Self.now)
      }
      let now = Self.now
      while let packet = link.deliver(.down, now: now) { if !there.write(packet) { refusedDown += 1 } }
      while let packet = link.deliver(.up, now: now) { if !here.write(packet) { refusedUp += 1 } }
      readCommands()
    }
    sayCounts()
  }

  private static var now: Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Until a packet comes, or one is due, or a command.
  private func wait() {
    var watched = [
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
      pollfd(fd: here.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: there.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let left =
      link.deadline == .never ? 1_000_000_000 : max(0, link.deadline.nanoseconds - Self.now.nanoseconds)
    var timeout = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
    _ = rs_ppoll(&watched, 3, &timeout, nil)
    // A device that is down says so again and again.
    if watched[1...].contains(where: { Int32($0.revents) & (POLLERR | POLLHUP) != 0 }) { usleep(1_000) }
  }

  private mutating func readCommands() {
    var chunk = [UInt8](repeating: 0, count: 1_024)
    while true {
      let count = read(STDIN_FILENO, &chunk, chunk.count)
      guard count > 0 else {
        if count == 0 || (errno != EAGAIN && errno != EINTR) { hasEnded = true }
        return
      }
      input += chunk[..<count]
      while let end = input.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: input[..<end], as: UTF8.self)
        input.removeSubrange(...end)
        obey(line)
      }
      if input.count > Self.longestLine { input = [] }
    }
  }

  private mutating func obey(_ line: String) {
    switch LinkCommand(line[...]) {
    case .nothing: break
    case .counts: sayCounts()
    case .change(let direction, let settings):
      var conditions = link.conditions(direction)
      do {
        try conditions.apply(settings)
        link.setConditions(direction, conditions, now: Self.now)
        say("\(direction.rawValue) \(conditions.words)")
      } catch {
        say("refused: \(error.text)")
      }
    case nil: say("refused: \(line) is no command; see roost-link --help")
    }
  }

  private func sayCounts() {
    say("counts down \(link.counts(.down).words) refused=\(refusedDown)")
    say("counts up \(link.counts(.up).words) refused=\(refusedUp)")
  }

  /// At once, whatever standard output is.
  private func say(_ line: String) {
    print(line)
    fflush(nil)
  }
}
