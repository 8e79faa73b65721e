internal import CMicroHTTPD
internal import Glibc

#if PLANTED_DEFECTS
  internal import Model
#endif

/// Requests that are not served: each has one answer, after which the connection closes.
extension ServerLoop {
  func refuse(_ connection: Connection, _ handle: OpaquePointer, _ refusal: RequestRefusal) -> Bool {
    counters.refusedRequests["\(refusal)", default: 0] &+= 1
    return answer(connection, handle, refusal.response, closing: true)
  }

  /// Answers where libmicrohttpd takes no answer: nothing else is being written, so it goes to the socket directly.
  func refuseAtOnce(_ connection: Connection, _ refusal: RequestRefusal) {
    counters.refusedRequests["\(refusal)", default: 0] &+= 1
    counters.answers[refusal.status, default: 0] &+= 1
    let bytes = refusal.response.text(reason: refusal.reason)
    // A client that doesn't read has no answer, only the end.
    _ = send(connection.descriptor, bytes, bytes.count, SocketFlags.dontWait | SocketFlags.noSignal)
  }

  /// libmicrohttpd has written to its log, which it does before it refuses a request.
  ///
  /// Version 0.9.75 writes the head of its answer twice where it refuses a whole head: a `Content-Length` that is no
  /// number or too large a one, and a `Cookie` for which there is no memory. It has no other call between that and its
  /// answer. So such a request is answered here, and nothing can be written after that.
  ///
  /// Whose request it is isn't said: it is the one whose head has been read to its end and wasn't handed out.
  func saidSomething() {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.refusedTwice) { return }
    #endif
    let refused = reading.values.first { $0.handle.map(roost_mhd_has_head) ?? false }
    guard let refused, let handle = refused.handle else { return }
    reading[refused.id] = nil
    refuseAtOnce(refused, Self.refusal(of: handle))
    shutdown(refused.descriptor, SocketFlags.writing)
  }

  private static func refusal(of handle: OpaquePointer) -> RequestRefusal {
    guard MHD_lookup_connection_value(handle, .HEADER_KIND, "transfer-encoding") == nil,
      let value = MHD_lookup_connection_value(handle, .HEADER_KIND, "content-length")
    else { return .headTooLarge }
    let length = String(cString: value)
    guard !length.isEmpty, length.utf8.allSatisfy({ (48...57).contains($0) }) else { return .ambiguousLength }
    return Int(length) == nil ? .bodyTooLarge : .headTooLarge
  }
}
