internal import Model

/// The sockets of one worker: one for all addresses of the host, or one for each address that media is bound to. All have
/// the same port.
final class WorkerSockets: Sendable {
  /// At least one.
  let all: [UDPSocketBox]

  init(_ all: [UDPSocketBox]) {
    precondition(!all.isEmpty, "a worker needs a socket")
    self.all = all
  }

  var port: UInt16 { all[0].value.port }
  var family: Int32 { all[0].value.family }
  var descriptors: [Int32] { all.map { $0.value.descriptor } }
}

/// A socket that can be handed to its thread.
final class UDPSocketBox: @unchecked Sendable {
  let value: UDPSocket
  init(_ value: consuming UDPSocket) { self.value = value }
}
