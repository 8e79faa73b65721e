internal import Engine
internal import Model
internal import Transport

/// The UDP socket of one session, its port to itself.
final class ClientSocket {
  private let socket: UDPSocket
  private var batch = ReceiveBatch(capacity: 64)
  private let clock: Clock

  var descriptor: Int32 { socket.descriptor }
  var port: UInt16 { socket.port }

  init(_ clock: Clock) throws(ClientError) {
    self.clock = clock
    do throws(SocketError) {
      socket = try UDPSocket(port: 0, receiveBuffer: 4 << 20, sendBuffer: 1 << 20)
    } catch { throw .system("no socket: \(error)") }
  }

  func send(_ outbox: inout Outbox) {
    for index in 0..<outbox.count {
      let entry = outbox[index]
      socket.send(outbox.bytes(entry), to: entry.path.remote)
    }
    outbox.removeAll()
  }

  /// Everything that waits.
  func receive(_ take: (UnsafeMutableRawBufferPointer, NetworkPath, _ arrival: Instant) -> Void) {
    repeat {
      let count = batch.receive(socket.descriptor)
      guard count > 0 else { return }
      let sample = clock.sample()
      for index in 0..<count {
        guard let datagram = batch.datagram(index, port: socket.port, clock: sample) else { continue }
        take(datagram.bytes, datagram.path, datagram.arrival)
      }
    } while batch.isFull
  }
}
