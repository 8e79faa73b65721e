import CSystem
import Glibc
import Model
import Peer
import Testing
import Transport

@testable import Engine

@Suite("UDP sockets, over the loopback", .timeLimit(.minutes(2)))
struct SocketTests {
  /// A worker's socket with what reads from and writes to it.
  final class Near {
    let box: UDPSocketBox
    var socket: UDPSocket { _read { yield box.value } }
    var batch = ReceiveBatch(capacity: 64)
    var sender: SendBatch
    var outbox = Outbox(datagrams: 1_024) { _ in Issue.record("full") }
    let clock = Clock()

    init(port: UInt16 = 0) throws {
      box = UDPSocketBox(
        try UDPSocket(port: port, receiveBuffer: 1 << 20, sendBuffer: 1 << 20, sharesPort: true))
      sender = SendBatch(datagrams: 1_024, sockets: WorkerSockets([box]))
    }

    var port: UInt16 { socket.port }
    var hasIPv6: Bool { socket.family == AF_INET6 }
    var statistics: SendStatistics { sender.statistics }

    func queue(_ bytes: [UInt8], _ path: NetworkPath) {
      bytes.withUnsafeBytes { _ = outbox.append($0, path: path) }
    }
    func send() { sender.send(&outbox) }

    /// What comes within two seconds, `count` of it; nil stands for a datagram that is refused.
    func receive(_ count: Int) -> [(bytes: [UInt8], path: NetworkPath, arrival: Instant)?] {
      var all: [(bytes: [UInt8], path: NetworkPath, arrival: Instant)?] = []
      let start = clock.now
      while all.count < count && clock.now - start < .seconds(2) {
        let got = batch.receive(socket.descriptor)
        let sample = clock.sample()
        for index in 0..<got {
          all.append(
            batch.datagram(index, port: port, clock: sample).map { (Array($0.bytes), $0.path, $0.arrival) })
        }
      }
      return all
    }
  }

  @Test func `sockets that share no port have one each, however many there are`() throws {
    final class Held {
      let socket: UDPSocket
      init() throws { socket = try UDPSocket(port: 0, receiveBuffer: 0, sendBuffer: 0) }
    }
    // As many that shared theirs would meet about three times.
    let held = try (0..<400).map { _ in try Held() }
    #expect(Set(held.map { $0.socket.port }).count == held.count)
    #expect(throws: SocketError.self) {
      _ = try UDPSocket(port: held[0].socket.port, receiveBuffer: 0, sendBuffer: 0, sharesPort: true)
    }
  }

  static func loopback(_ last: UInt8, port: UInt16 = 0) -> SocketAddress {
    SocketAddress(ipv4: 127, 0, 0, last, port: port)
  }
  static let loopback6 = SocketAddress(high: 0, low: 1, port: 0)

  @Test func `port 0 gets a port, and a group shares it`() throws {
    let first = try Near()
    #expect(first.port != 0)
    let second = try Near(port: first.port)
    #expect(second.port == first.port)
  }

  @Test func `a port that another program has is refused by name`() throws {
    let taken = try FarSocket(SocketAddress(ipv4: 0, 0, 0, 0, port: 0))
    do {
      _ = try Near(port: taken.address.port)
      Issue.record("bound")
    } catch let error as SocketError {
      #expect("\(error)".contains("\(taken.address.port)"))
    }
  }

  @Test(arguments: [1, 2, 77] as [UInt8])
  func `a reply leaves from the very address that was asked`(last: UInt8) throws {
    let near = try Near()
    let far = try FarSocket(Self.loopback(1))
    #expect(far.send([1, 2, 3], to: Self.loopback(last, port: near.port)))
    let got = try #require(near.receive(1).first ?? nil)
    #expect(got.bytes == [1, 2, 3])
    #expect(got.path.remote == far.address)
    #expect(got.path.local == Self.loopback(last, port: near.port))
    near.queue([4, 5], got.path)
    near.send()
    let reply = try #require(far.receive())
    #expect(reply.bytes == [4, 5])
    #expect(reply.from == Self.loopback(last, port: near.port))
  }

  static var hasIPv6: Bool { (try? FarSocket(loopback6)) != nil }

  @Test(.enabled(if: hasIPv6, "the loopback has no IPv6 here"))
  func `IPv6 is spoken on the same socket`() throws {
    let near = try Near()
    try #require(near.hasIPv6)
    let far = try FarSocket(Self.loopback6)
    #expect(far.send([9], to: Self.loopback6.with(port: near.port)))
    let got = try #require(near.receive(1).first ?? nil)
    #expect(got.path.remote == far.address && !got.path.remote.isIPv4)
    #expect(got.path.local == Self.loopback6.with(port: near.port))
    for size in [1_000, 1_000, 400] { near.queue(Array(repeating: UInt8(size / 10), count: size), got.path) }
    near.send()
    for size in [1_000, 1_000, 400] {
      let reply = try #require(far.receive())
      #expect(reply.bytes.count == size && reply.from == Self.loopback6.with(port: near.port))
    }
    #expect(near.statistics.segmented == 3)
  }

  /// One worker's sockets, bound to addresses of their own.
  private func bound(_ addresses: [SocketAddress]) throws -> WorkerSockets {
    var port: UInt16 = 0
    return WorkerSockets(
      try addresses.map { address in
        let socket = try UDPSocket(
          port: port, address: address, receiveBuffer: 1 << 20, sendBuffer: 1 << 20, sharesPort: true)
        port = socket.port
        return UDPSocketBox(socket)
      })
  }

  @Test func `sockets that are bound to addresses answer from them, and no other address is served`() throws {
    let addresses = [Self.loopback(5), Self.loopback(6)] + (Self.hasIPv6 ? [Self.loopback6] : [])
    let sockets = try bound(addresses)
    var sender = SendBatch(datagrams: 64, sockets: sockets)
    var outbox = Outbox(datagrams: 64) { _ in Issue.record("full") }
    var batch = ReceiveBatch(capacity: 64)
    let clock = Clock()
    var far: [FarSocket] = []
    for (socket, address) in zip(sockets.all, addresses) {
      let one = try FarSocket(address.isIPv4 ? Self.loopback(1) : Self.loopback6)
      far.append(one)
      #expect(one.send([1], to: address.with(port: sockets.port)))
      usleep(1_000)
      let count = batch.receive(socket.value.descriptor)
      try #require(count == 1)
      let datagram = batch.datagram(0, port: sockets.port, clock: clock.sample())
      let got = try #require(datagram)
      #expect(got.path.local == address.with(port: sockets.port))
      for size in [900, 900, 300] {
        Array(repeating: UInt8(size / 10), count: size).withUnsafeBytes {
          _ = outbox.append($0, path: got.path)
        }
      }
    }
    let elsewhere = NetworkPath(remote: far[0].address, local: Self.loopback(9, port: sockets.port))
    [7 as UInt8].withUnsafeBytes { _ = outbox.append($0, path: elsewhere) }
    sender.send(&outbox)
    for (one, address) in zip(far, addresses) {
      for size in [900, 900, 300] {
        let reply = try #require(one.receive())
        #expect(reply.bytes.count == size && reply.from == address.with(port: sockets.port))
      }
    }
    #expect(sender.statistics.datagrams == UInt64(addresses.count * 3))
    #expect(sender.statistics.droppedUnreachable == 1)
    // The kernel refuses it, or it finds no socket.
    _ = far[0].send([2], to: Self.loopback(7, port: sockets.port))
    usleep(1_000)
    for socket in sockets.all {
      let count = batch.receive(socket.value.descriptor)
      #expect(count == 0)
    }
  }

  @Test(.enabled(if: hasIPv6, "the loopback has no IPv6 here"))
  func `all addresses of one family leave the other's port free`() throws {
    let ipv6 = try bound([SocketAddress(high: 0, low: 0, port: 0)])
    let ipv4 = try UDPSocket(
      port: ipv6.port, address: SocketAddress(ipv4: 0, 0, 0, 0, port: 0), receiveBuffer: 0, sendBuffer: 0)
    #expect(ipv4.port == ipv6.port)
    #expect(ipv4.carries(Self.loopback(1)) && !ipv4.carries(Self.loopback6))
  }

  @Test func `an address that this host lacks is named`() throws {
    let error = #expect(throws: SocketError.self) {
      _ = try UDPSocket(
        port: 0, address: SocketAddress(ipv4: 203, 0, 113, 77, port: 0), receiveBuffer: 0, sendBuffer: 0)
    }
    #expect(error?.description.contains("203.0.113.77") == true)
    #expect(error?.description.contains("media.addresses") == true)
  }

  @Test func `the kernel's stamp lies before now, and in the order of arrival`() throws {
    let near = try Near()
    let far = try FarSocket(Self.loopback(1))
    let slack = Duration.milliseconds(2)
    // Stamps count for a second; a machine that is busier than that gets another chance.
    for _ in 0..<10 {
      let before = near.clock.now
      for number in 0..<20 as Range<UInt8> {
        #expect(far.send([number], to: Self.loopback(1, port: near.port)))
      }
      let sent = near.clock.now
      // Read late: what counts is when it came.
      usleep(20_000)
      let got = near.receive(20).compactMap(\.self)
      guard near.clock.now - before < .milliseconds(900) else { continue }
      #expect(got.map(\.bytes) == (0..<20).map { [$0] })
      for (a, b) in zip(got, got.dropFirst()) { #expect(a.arrival <= b.arrival) }
      #expect(got.allSatisfy { $0.arrival + slack >= before && $0.arrival <= sent + slack })
      return
    }
    Issue.record("never read within a second")
  }

  @Test func `both clocks are read together, also by a thread that is put aside in between`() {
    /// The wall clock is the monotonic one and 50 s; before reading number n, `pauses[n]` microseconds pass.
    func taken(pauses: [Int64]) -> (sample: ClockSample, readings: Int) {
      var now: Int64 = 1_000_000_000
      var readings = 0
      func read() -> Int64 {
        now += 20 + 1_000 * (readings < pauses.count ? pauses[readings] : 0)
        readings += 1
        return now
      }
      let sample = ClockSample.closest(
        monotonic: { Instant(nanoseconds: read()) }, wall: { read() + 50_000_000_000 })
      return (sample, readings)
    }
    let pauses: [[Int64]] = [
      [], [0, 10_000], [0, 0, 10_000], [5_000, 5_000, 5_000], [0, 10_000, 0, 10_000, 0, 10_000],
      [0, 0, 10_000, 0, 10_000, 0, 10_000],
    ]
    for pause in pauses {
      let (sample, readings) = taken(pauses: pause)
      let apart = sample.wallTime - 50_000_000_000 - sample.instant.nanoseconds
      #expect(abs(apart) <= ClockSample.undisturbed, "\(pause)")
      #expect(readings <= 2 * ClockSample.attempts + 1)
    }
    #expect(taken(pauses: []).readings == 3)
    // Always disturbed: the least of them.
    let worst = taken(pauses: [0, 9_000, 0, 3_000, 0, 7_000, 0, 8_000, 0]).sample
    #expect(abs(worst.wallTime - 50_000_000_000 - worst.instant.nanoseconds) <= 3_001_000)
  }

  @Test func `a stamp of a wall clock that was set counts as now`() {
    let sample = ClockSample(instant: Instant(nanoseconds: 5_000_000_000), wallTime: 100_000_000_000)
    func at(_ seconds: Int, _ nanoseconds: Int) -> Int64 {
      sample.instant(ofWallTime: timespec(tv_sec: seconds, tv_nsec: nanoseconds)).nanoseconds
    }
    #expect(at(99, 500_000_000) == 4_500_000_000)
    #expect(at(100, 0) == 5_000_000_000)
    #expect(at(100, 1) == 5_000_000_000)
    #expect(at(98, 999_999_999) == 5_000_000_000)
    #expect(at(99, 0) == 4_000_000_000)
  }

  @Test func `a datagram larger than a slot is refused, its neighbours are not`() throws {
    let near = try Near()
    let far = try FarSocket(Self.loopback(1))
    let target = Self.loopback(1, port: near.port)
    for size in [2_048, 2_049, 0, 1] { #expect(far.send(Array(repeating: 7, count: size), to: target)) }
    #expect(near.receive(4).map { $0?.bytes.count } == [2_048, nil, 0, 1])
  }

  @Test func `a batch takes what it can hold and leaves the rest`() throws {
    let near = try Near()
    let far = try FarSocket(Self.loopback(1))
    for number in 0..<100 as Range<UInt8> {
      #expect(far.send([number], to: Self.loopback(1, port: near.port)))
    }
    let first = near.batch.receive(near.socket.descriptor)
    let full = near.batch.isFull
    #expect(first == 64 && full)
    #expect(near.receive(36).count == 36)
    let none = near.batch.receive(near.socket.descriptor)
    #expect(none == 0)
  }

  @Test func `host addresses are usable, without doubles and loopback`() {
    let addresses = HostAddresses.list(port: 99, includesLoopback: false)
    #expect(Set(addresses).count == addresses.count)
    #expect(addresses.allSatisfy { $0.port == 99 && !$0.isLoopback && !$0.isLinkLocal && !$0.isUnspecified })
    let all = HostAddresses.list(port: 99, includesLoopback: true, includesIPv6: false)
    #expect(all.contains(Self.loopback(1, port: 99)) && all.allSatisfy(\.isIPv4))
  }
}
