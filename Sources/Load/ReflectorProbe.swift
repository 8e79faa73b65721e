internal import Engine
internal import Model

/// Datagrams to the reflector and back, from the same thread and by the same calls as the media.
final class ReflectorProbe {
  private let reflector: Reflector
  private let socket: UDPSocket
  private var next: Instant = .never
  private var sentAt: [UInt32: Instant] = [:]
  private var number: UInt32 = 0
  private(set) var latency = LatencyHistogram()
  private static let interval: Int64 = 10_000_000
  private static let size = 1_100
  private static let waiting = 1_000

  init() throws(LoadError) {
    reflector = try Reflector()
    do { socket = try UDPSocket(port: 0, receiveBuffer: 1 << 20, sendBuffer: 1 << 20) } catch {
      throw LoadError("no socket for the reflector's probe: \(error)")
    }
  }

  var descriptor: Int32 { socket.descriptor }
  var deadline: Instant { next }
  func stop() { reflector.stop() }
  /// Begins the measurement; nothing is sent before.
  func reset() {
    latency = LatencyHistogram()
    sentAt = [:]
    next = Instant(nanoseconds: 0)
  }

  func poll(now: Instant) {
    guard next <= now else { return }
    next = now.advanced(byNanoseconds: Self.interval)
    // Lost ones are no sample.
    if sentAt.count >= Self.waiting { sentAt = [:] }
    number &+= 1
    sentAt[number] = now
    var bytes = [UInt8](repeating: 0, count: Self.size)
    bytes.withUnsafeMutableBytes { $0.storeBytes(of: number, as: UInt32.self) }
    _ = bytes.withUnsafeBytes { socket.send($0, to: reflector.address) }
  }

  func receive(_ batch: inout ReceiveBatch, _ sample: ClockSample) {
    for index in 0..<batch.receive(socket.descriptor) {
      guard let datagram = batch.datagram(index, port: socket.port, clock: sample), datagram.bytes.count >= 4,
        let began = sentAt.removeValue(forKey: datagram.bytes.loadUnaligned(as: UInt32.self))
      else { continue }
      latency.add(nanoseconds: datagram.arrival.nanoseconds - began.nanoseconds)
    }
  }
}
