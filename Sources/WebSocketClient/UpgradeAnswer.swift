internal import Crypto

/// The server's answer to an upgrade (RFC 6455 §4.1).
struct UpgradeAnswer {
  private let status: Int
  private let headers: [(name: String, value: String)]
  private let rest: ArraySlice<UInt8>
  /// Everything that is needed is there: of an upgrade its head, of a refusal its body, too.
  let isComplete: Bool
  private static let bodyShown = 400

  /// - Parameter isWhole: nothing more will come.
  /// - Throws: `handshake` for what is no HTTP.
  init(_ bytes: [UInt8], isWhole: Bool) throws(WebSocketClientError) {
    guard let end = Self.headEnd(bytes) else {
      guard !isWhole else { throw .handshake("the answer is incomplete") }
      (status, headers, rest, isComplete) = (0, [], [], false)
      return
    }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(
      separator: "\r\n", omittingEmptySubsequences: false)
    let first = lines[0].split(separator: " ", maxSplits: 2)
    guard first.count >= 2, first[0].hasPrefix("HTTP/1."), let status = Int(first[1]) else {
      throw .handshake("not HTTP: \(lines[0].prefix(80))")
    }
    self.status = status
    headers = lines.dropFirst().compactMap { line in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      return (line[..<colon].lowercased(), line[line.index(after: colon)...].trimmed)
    }
    rest = bytes[(end + 4)...]
    let length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) }
    isComplete = isWhole || status == 101 || rest.count >= min(length ?? .max, Self.bodyShown)
  }

  private static func headEnd(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (0...(bytes.count - 4)).first { bytes[$0..<$0 + 4].elementsEqual([13, 10, 13, 10]) }
  }

  private func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// - Returns: bytes behind the head, which are frames already.
  func check(nonce: String, protocol name: String) throws(WebSocketClientError) -> ArraySlice<UInt8> {
    guard status == 101 else {
      throw .refused(status: status, body: String(decoding: rest.prefix(Self.bodyShown), as: UTF8.self))
    }
    // §1.3 names the text that the key is joined with.
    let wanted = Base64.encode(SHA1.digest(Array((nonce + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    guard header("upgrade")?.lowercased() == "websocket", header("sec-websocket-accept") == wanted else {
      throw .handshake("status 101 with a wrong Sec-WebSocket-Accept")
    }
    guard header("sec-websocket-protocol") == name else {
      throw .handshake("the server doesn't speak \(name)")
    }
    return rest
  }
}

extension Substring {
  /// Without blanks at either end.
  var trimmed: String {
    var text = self
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return String(text)
  }
}
