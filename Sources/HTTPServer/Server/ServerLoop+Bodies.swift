internal import Glibc
internal import Model

/// Bodies that libmicrohttpd can read no further: a line of a chunked body (RFC 9112 §7.1) that is longer than its buffer
/// stays there, and it neither refuses the request nor notices that the client has gone.
extension ServerLoop {
  /// Between two looks; a body that made no progress from one to the next is stuck.
  private static let bodyLook = Duration.milliseconds(100)

  /// Ends connections whose body makes no progress although bytes of it wait, or the client has gone.
  func lookAtBodies(now: Instant) {
    turns.nextLookAtBodies = now + Self.bodyLook
    for connection in Array(connections.all) where connection.phase == .body {
      var unread: Int32 = 0
      _ = ioctl(connection.descriptor, UInt(FIONREAD), &unread)
      let mark = (count: connection.upload.count, unread: unread)
      let isStuck = connection.upload.mark.map { $0 == mark } ?? false
      connection.upload.mark = mark
      if isStuck, unread > 0 || connection.farEndGone {
        counters.refusedRequests["stuckBody", default: 0] &+= 1
        cut(connection)
      }
    }
  }
}
