internal import Engine
internal import Model
internal import Polling
internal import Synchronization

/// A plain UDP echo on a thread of its own: what two hops cost on this machine without a media server between.
final class Reflector: Sendable {
  let address: SocketAddress
  private let isStopped = Atomic(false)

  init() throws(LoadError) {
    let socket: UDPSocket
    do {
      socket = try UDPSocket(port: 0, receiveBuffer: 1 << 20, sendBuffer: 1 << 20)
    } catch { throw LoadError("no socket for the reflector: \(error)") }
    address = SocketAddress(ipv4: 127, 0, 0, 1, port: socket.port)
    try start(socket)
  }

  func stop() { isStopped.store(true, ordering: .relaxed) }

  private func start(_ socket: consuming UDPSocket) throws(LoadError) {
    let box = SocketBox(socket)
    let run: @Sendable () -> Void = { [self] in
      guard let poller = Poller(capacity: 1), poller.add(box.socket.descriptor, id: 0, .readable) else {
        return
      }
      var batch = ReceiveBatch(capacity: 8)
      let clock = Clock()
      while !isStopped.load(ordering: .relaxed) {
        guard poller.wait(until: .never, now: clock.now, atMost: .milliseconds(100)) > 0 else { continue }
        let sample = clock.sample()
        for index in 0..<batch.receive(box.socket.descriptor) {
          guard let datagram = batch.datagram(index, port: box.socket.port, clock: sample) else { continue }
          box.socket.send(UnsafeRawBufferPointer(datagram.bytes), to: datagram.path.remote)
        }
      }
    }
    try LoadThread.start(run)
  }
}

/// So that a closure can hold a socket.
private final class SocketBox: Sendable {
  let socket: UDPSocket
  init(_ socket: consuming UDPSocket) { self.socket = socket }
}
