import CFloor
import CSRTP
import Engine
import Foundation
import Glibc
import Model

/// The plain C server at the arrivals of a trace: publishers send the same sizes at the same moments, as many sockets
/// receive as did before.
final class FloorReplay {
  private let trace: ArrivalTrace
  private let scenario: ServerScenario
  private var random = RandomSource.seeded(state: 5)
  /// By participant.
  private let sockets: [Socket]
  private var packets: [[UInt8]] = []
  private var loops: [OpaquePointer] = []
  private let streams: UnsafeMutablePointer<floor_stream>
  private var destinations: [UnsafeMutablePointer<UInt32>] = []

  private final class Socket {
    let value: UDPSocket
    init() throws { value = try UDPSocket(port: 0, receiveBuffer: 4 << 20, sendBuffer: 1 << 20) }
  }

  struct Result {
    var expected = 0
    var delivered = 0
    var tally = floor_tally()
  }

  private static let batch = 64
  private static let keySize = 28

  init(_ trace: ArrivalTrace, _ scenario: ServerScenario) throws(BenchError) {
    self.trace = trace
    self.scenario = scenario
    do { sockets = try (0..<scenario.participants).map { _ in try Socket() } } catch {
      throw .setup("no sockets: \(error)")
    }
    streams = .allocate(capacity: max(trace.streams.count, 1))
    let keys = (0..<scenario.participants).map { _ in bytes(Self.keySize) }
    for (place, stream) in trace.streams.enumerated() {
      try add(place, stream, keys: keys[stream.participant])
    }
    try seal(keys)
  }

  deinit {
    for loop in loops { floor_destroy(loop) }
    for list in destinations { list.deallocate() }
    streams.deallocate()
  }

  private func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  private func add(_ place: Int, _ stream: ArrivalTrace.Stream, keys: [UInt8]) throws(BenchError) {
    guard let first = trace.entries.first(where: { $0.stream == place })?.datagram else { return }
    let receivers = scenario.receivers(of: stream.participant)
    let subscribers = receivers.enumerated().map { number, _ in
      var subscriber = floor_subscriber()
      withUnsafeMutableBytes(of: &subscriber.key) { $0.copyBytes(from: bytes(16)) }
      withUnsafeMutableBytes(of: &subscriber.salt) { $0.copyBytes(from: bytes(12)) }
      subscriber.ssrc = 0x5000_0000 + UInt32(place << 16 | number)
      subscriber.payload_type = first[1] & 0x7F
      subscriber.first_sequence = UInt16(truncatingIfNeeded: random.next())
      subscriber.timestamp_offset = UInt32(truncatingIfNeeded: random.next())
      // One extension of one byte, the MID.
      let extensions: [UInt8] = [0xBE, 0xDE, 0, 1, 0x10, 0x30, 0, 0]
      subscriber.extension_size = extensions.count
      withUnsafeMutableBytes(of: &subscriber.extension) { $0.copyBytes(from: extensions) }
      return subscriber
    }
    let sequence = UInt16(first[2]) << 8 | UInt16(first[3])
    guard
      let loop = floor_create(
        keys, sequence, subscribers, subscribers.count, Self.batch * subscribers.count)
    else { throw .setup("no C loop") }
    loops.append(loop)
    let list = UnsafeMutablePointer<UInt32>.allocate(capacity: receivers.count)
    for (number, receiver) in receivers.enumerated() { list[number] = UInt32(receiver) }
    destinations.append(list)
    streams[place] = floor_stream(loop: loop, destinations: list)
  }

  /// The trace's packets once more, under keys of ours.
  private func seal(_ keys: [[UInt8]]) throws(BenchError) {
    let sessions = keys.map { floor_session($0, 1) }
    defer { for session in sessions { if let session { srtp_dealloc(session) } } }
    for entry in trace.entries {
      var packet = entry.datagram
      let plain = packet.count - 16
      let ssrc = UInt32(floor_first_ssrc) + UInt32(entry.stream)
      for byte in 0..<4 { packet[8 + byte] = UInt8(truncatingIfNeeded: ssrc >> UInt32(24 - 8 * byte)) }
      var size = Int32(plain)
      let session = sessions[trace.streams[entry.stream].participant]
      let status = packet.withUnsafeMutableBytes { srtp_protect(session, $0.baseAddress, &size) }
      guard status == srtp_err_status_ok else { throw .setup("libsrtp does not seal the trace's packets") }
      packets.append(packet)
    }
  }

  // MARK: - Running

  func run() throws(BenchError) -> Result {
    var result = Result()
    for entry in trace.entries {
      result.expected += scenario.receivers(of: trace.streams[entry.stream].participant).count
    }
    let ports = sockets.map { $0.value.port }
    guard let server = floor_server_start(streams, trace.streams.count, ports, ports.count) else {
      throw .setup("no C server")
    }
    let target = SocketAddress(ipv4: 127, 0, 0, 1, port: floor_server_port(server))
    var descriptors = sockets.map { pollfd(fd: $0.value.descriptor, events: Int16(POLLIN), revents: 0) }
    var batch = ReceiveBatch(capacity: Self.batch)
    let clock = Clock()
    let start = clock.now.nanoseconds
    var next = 0
    var patience = Int64.max
    while true {
      let now = clock.now.nanoseconds - start
      while next < packets.count, trace.entries[next].at <= now {
        let participant = trace.streams[trace.entries[next].stream].participant
        packets[next].withUnsafeBytes { _ = sockets[participant].value.send($0, to: target) }
        next += 1
      }
      if next == packets.count, patience == .max { patience = now + 500_000_000 }
      if result.delivered >= result.expected || now >= patience { break }
      let due = next < packets.count ? trace.entries[next].at : patience
      guard floor_poll(&descriptors, descriptors.count, due - now) > 0 else { continue }
      for (index, descriptor) in descriptors.enumerated() where descriptor.revents != 0 {
        result.delivered += batch.receive(sockets[index].value.descriptor)
      }
    }
    result.tally = floor_server_stop(server)
    return result
  }
}
