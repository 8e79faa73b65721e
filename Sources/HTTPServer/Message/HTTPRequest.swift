public import Model

/// A request with its whole body.
///
/// Its description names method and path only: query strings and Authorization never reach a log.
public struct HTTPRequest: Sendable {
  public var method: HTTPMethod
  /// As on the wire, percent-encoded, from the first `/`.
  public var path: String
  /// As on the wire, percent-encoded, without the `?`.
  public var query: String
  public var headers: HTTPHeaders
  public var body: [UInt8]
  /// The other end of the TCP connection, or, where that is a trusted proxy, the client that asked it; its port is 0 then.
  public var remote: SocketAddress
  /// Which of the server's listeners took it, counted from 0.
  public var listener: Int

  public init(
    method: HTTPMethod, path: String, query: String = "", headers: HTTPHeaders = HTTPHeaders(),
    body: [UInt8] = [], remote: SocketAddress = SocketAddress(ipv4: 127, 0, 0, 1, port: 0), listener: Int = 0
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.remote = remote
    self.listener = listener
  }

  /// More than any path of the server has.
  static let mostSegments = 16

  /// The path's segments, each decoded by itself, so that an encoded slash stays inside its segment; nil
  /// where the encoding is broken, a segment is no UTF-8 or has too many combining marks in a row, or there are more
  /// than `mostSegments`.
  public var segments: [String]? {
    #if PLANTED_DEFECTS
      let most = PlantedDefect.isOn(.segmentsUnbounded) ? Int.max : Self.mostSegments
    #else
      let most = Self.mostSegments
    #endif
    // In bytes, and no further than a door looks: a path may be as long as the head.
    let given = path.utf8.dropFirst().split(
      separator: UInt8(ascii: "/"), maxSplits: most, omittingEmptySubsequences: false)
    guard given.count <= most else { return nil }
    var decoded: [String] = []
    for segment in given.map({ Substring($0) }) {
      guard let text = segment.percentDecoded() else { return nil }
      decoded.append(text)
    }
    return decoded
  }

  /// The first value of that name in the query, decoded as a form is.
  ///
  /// A door asks for several items, and each time the query is read from its beginning, so it is not copied.
  public func queryItem(_ name: String) -> String? {
    var query = query
    return query.withUTF8 { Self.item(name, of: $0) }
  }

  private static func item(_ name: String, of query: UnsafeBufferPointer<UInt8>) -> String? {
    let wanted = name.utf8
    var rest = query[...]
    while !rest.isEmpty {
      let item = rest.prefix { $0 != UInt8(ascii: "&") }
      rest = rest[item.endIndex...].dropFirst()
      let given = item.prefix { $0 != UInt8(ascii: "=") }
      // Nothing is decoded but what may be that name: an escape has three bytes for one.
      guard (wanted.count...3 * wanted.count).contains(given.count),
        given.elementsEqual(wanted)
          || given.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") })
            && String(percentEncoded: given, plusIsSpace: true) == name
      else { continue }
      return String(percentEncoded: item[given.endIndex...].dropFirst(), plusIsSpace: true)
    }
    return nil
  }

  /// The token of `Authorization: Bearer` (RFC 6750 §2.1); nil without one or with more than one.
  public var bearerToken: String? {
    let values = headers.all("authorization")
    guard values.count == 1, values[0].utf8.count > 7, values[0].prefix(7).asciiLowercased == "bearer " else {
      return nil
    }
    return values[0].dropFirst(7).trimmingSpaces()
  }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "\(method.rawValue) \(path)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

extension StringProtocol {
  /// RFC 3986 §2.1; nil for a broken escape, bytes that are no UTF-8, or too many combining marks in a row.
  package func percentDecoded(plusIsSpace: Bool = false) -> String? {
    String(percentEncoded: utf8, plusIsSpace: plusIsSpace)
  }
}

extension String {
  /// - Returns: nil as `percentDecoded` does.
  fileprivate init?(percentEncoded encoded: some Collection<UInt8>, plusIsSpace: Bool) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encoded.count)
    var rest = encoded.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.next()?.hexDigit, let low = rest.next()?.hexDigit else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(32)
      default: bytes.append(byte)
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self), CombiningMarks.areFew(in: text) else {
      return nil
    }
    self = text
  }
}

extension UInt8 {
  fileprivate var hexDigit: UInt8? {
    switch self {
    case 48...57: self - 48
    case 65...70: self - 55
    case 97...102: self - 87
    default: nil
    }
  }
}
