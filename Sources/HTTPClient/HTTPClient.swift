internal import CCurl
internal import Glibc
internal import Polling

/// Sends requests to other servers by libcurl, on a thread of its own, over connections that are kept for the next.
///
/// What is asked for is sent to that URL and to no other: redirects are answers like any other, proxies of the environment are not
/// used, certificates are verified, and nothing of one answer (cookies, authentication) is in the next request.
public final class HTTPClient: Sendable {
  private let box: Mailbox<HTTPClientLoop.Command>
  private let loop: HTTPClientLoop

  /// - Parameters:
  ///   - authorities: path of a PEM file with the certificates that vouch for servers; nil: those of the system.
  ///   - connectionsPerHost: at once; further requests wait for one, and their time runs meanwhile.
  public init(authorities: String? = nil, connectionsPerHost: Int = 8) {
    loop = HTTPClientLoop(authorities: authorities, connectionsPerHost: connectionsPerHost)
    box = Mailbox(limit: .max, wake: { [loop] in loop.wake() })
    loop.start(box)
  }

  deinit { box.post(.stop, force: true) }

  /// Sends a request.
  /// - Returns: how it was answered, or why it was not, once its time is over at the latest.
  public func send(_ request: HTTPClientRequest) async -> Result<HTTPClientAnswer, HTTPClientError> {
    await withCheckedContinuation { continuation in
      let isTaken = box.post(.send(request) { continuation.resume(returning: $0) }, force: true)
      if !isTaken { continuation.resume(returning: .failure(.stopped)) }
    }
  }

  /// Gives up what is under way; what is asked for later fails too.
  public func stop() { box.post(.stop, force: true) }
}
