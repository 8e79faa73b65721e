internal import CCurl
internal import Model

/// Where a server is: `http://host[:port][/path]` or `https://…`, read by libcurl.
public struct HTTPURL: Equatable, Sendable, CustomStringConvertible {
  public let isSecure: Bool
  /// In lower case; IPv6 in brackets.
  public let host: String
  public let port: UInt16
  /// Begins with a slash, or is empty where there is nothing but one.
  public let path: String
  /// With the `?`; empty without one.
  public let query: String

  /// - Returns: nil for another scheme, no host, a port that is none, a user or password, a fragment, or more than 8 KiB.
  public init?(_ text: String) {
    // libcurl takes a third slash for a slip of the hand.
    guard text.utf8.count <= 8_192, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      !text.contains(":///"),
      let url = curl_url()
    else { return nil }
    defer { curl_url_cleanup(url) }
    guard curl_url_set(url, CURLUPART_URL, text, UInt32(CURLU_PATH_AS_IS | CURLU_DISALLOW_USER)) == CURLUE_OK
    else { return nil }
    func part(_ name: CURLUPart, _ flags: Int32 = 0) -> String? {
      var bytes: UnsafeMutablePointer<CChar>?
      guard curl_url_get(url, name, &bytes, UInt32(flags)) == CURLUE_OK, let bytes else { return nil }
      defer { curl_free(bytes) }
      return String(cString: bytes)
    }
    guard let scheme = part(CURLUPART_SCHEME), scheme == "http" || scheme == "https",
      let host = part(CURLUPART_HOST), !host.isEmpty,
      let port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT).flatMap(UInt16.init), port > 0,
      part(CURLUPART_FRAGMENT) == nil
    else { return nil }
    isSecure = scheme == "https"
    self.host = host.lowercased()
    self.port = port
    let path = part(CURLUPART_PATH) ?? ""
    self.path = path == "/" ? "" : path
    query = part(CURLUPART_QUERY).map { "?" + $0 } ?? ""
  }

  private init(_ other: HTTPURL, path: String, query: String) {
    isSecure = other.isSecure
    host = other.host
    port = other.port
    self.path = path
    self.query = query
  }

  /// The same server, further down.
  /// - Parameters:
  ///   - segments: names of any text, percent-encoded here, a slash in one as well.
  ///   - items: of the query, which takes the place of the one that there is.
  public func appending(_ segments: [String], query items: [(name: String, value: String)] = []) -> HTTPURL {
    let pairs = items.map { Self.encoded($0.name) + "=" + Self.encoded($0.value) }
    var base = path
    while base.hasSuffix("/") { base.removeLast() }
    return HTTPURL(
      self, path: segments.reduce(base) { $0 + "/" + Self.encoded($1) },
      query: pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
  }

  /// Everything but what is unreserved (RFC 3986 §2.3) as its bytes.
  private static func encoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default: result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
    return result
  }

  public var description: String {
    let isUsual = port == (isSecure ? 443 : 80)
    return "\(isSecure ? "https" : "http")://\(host)\(isUsual ? "" : ":\(port)")\(path)\(query)"
  }

  /// Whether it is this machine.
  public var isLoopback: Bool { LoopbackHost.contains(host) }
}
