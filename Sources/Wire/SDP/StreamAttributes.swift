/// `a=msid` (RFC 8830 §2): the MediaStream and the track that a section belongs to.
public struct StreamAttribute: Equatable, Sendable {
  /// "-" for a track without stream.
  public var streamID: String
  public var trackID: String?

  public init(streamID: String, trackID: String? = nil) {
    self.streamID = streamID
    self.trackID = trackID
  }
}

extension StreamAttribute: SDPValue {
  static var grammar: String { "<stream id> [<track id>]" }

  init?(value: Substring) {
    var fields = SDPFields(value)
    guard let stream = fields.next(), stream.isToken else { return nil }
    let track = fields.next()
    guard track?.isToken ?? true, fields.isAtEnd else { return nil }
    self.init(streamID: String(stream), trackID: track.map { String($0) })
  }

  var value: String { streamID + (trackID.map { " " + $0 } ?? "") }
}

/// `a=ssrc` (RFC 5576 §4.1): an attribute of one source, most often its CNAME.
public struct SSRCAttribute: Equatable, Sendable {
  public var ssrc: UInt32
  public var name: String
  public var attributeValue: String?

  public init(ssrc: UInt32, name: String, attributeValue: String? = nil) {
    self.ssrc = ssrc
    self.name = name
    self.attributeValue = attributeValue
  }
}

extension SSRCAttribute: SDPValue {
  static var grammar: String { "<SSRC below 2^32> <attribute>[:<value>]" }

  init?(value: Substring) {
    var fields = SDPFields(value)
    guard let ssrc = fields.nextNumber(UInt32.self) else { return nil }
    let (name, attribute) = fields.remainder.halves(at: 0x3A)
    guard name.isToken else { return nil }
    self.init(ssrc: ssrc, name: String(name), attributeValue: attribute.map { String($0) })
  }

  var value: String { "\(ssrc) \(name)" + (attributeValue.map { ":" + $0 } ?? "") }
}

/// `a=ssrc-group` (RFC 5576 §4.2); `FID` ties a stream to its retransmissions (RFC 4588 §8.5).
public struct SSRCGroupAttribute: Equatable, Sendable {
  public var semantics: String
  public var ssrcs: [UInt32]

  public init(semantics: String, ssrcs: [UInt32]) {
    self.semantics = semantics
    self.ssrcs = ssrcs
  }
}

extension SSRCGroupAttribute: SDPValue {
  static var grammar: String { "<semantics> <SSRC below 2^32> …" }

  init?(value: Substring) {
    var fields = SDPFields(value)
    guard let semantics = fields.next(), semantics.isToken else { return nil }
    var ssrcs: [UInt32] = []
    while let field = fields.next() {
      guard let ssrc = field.decimal(UInt32.self) else { return nil }
      ssrcs.append(ssrc)
    }
    self.init(semantics: String(semantics), ssrcs: ssrcs)
  }

  var value: String { ([semantics] + ssrcs.map { "\($0)" }).joined(separator: " ") }
}

/// `a=rid` (RFC 8851 §4): names one of the encodings of a section.
public struct RIDAttribute: Equatable, Sendable {
  public enum Direction: String, Sendable { case send, recv }

  public var rid: String
  public var direction: Direction
  /// As `pt=96;max-width=640`, verbatim.
  public var restrictions: String

  public init(rid: String, direction: Direction, restrictions: String = "") {
    self.rid = rid
    self.direction = direction
    self.restrictions = restrictions
  }

  /// The payload types that the encoding is confined to; nil where it isn't.
  public var payloadTypes: [UInt8]? {
    let pairs = FormatAttribute(payloadType: 0, parameters: restrictions).pairs
    guard let list = pairs.first(where: { $0.name == "pt" })?.value else { return nil }
    return list[...].parts(at: 0x2C).compactMap { $0.decimal(UInt8.self) }
  }
}

extension RIDAttribute: SDPValue {
  static var grammar: String { "<letters and digits> send|recv [<restrictions>]" }

  init?(value: Substring) {
    var fields = SDPFields(value)
    guard let rid = fields.next(), rid.isRID, let way = fields.next(),
      let direction = Direction(rawValue: String(way))
    else { return nil }
    self.init(rid: String(rid), direction: direction, restrictions: String(fields.remainder))
  }

  var value: String {
    "\(rid) \(direction.rawValue)" + (restrictions.isEmpty ? "" : " " + restrictions)
  }
}

/// `a=simulcast` (RFC 8853 §5.1): the encodings sent and received side by side.
public struct SimulcastAttribute: Equatable, Sendable {
  /// One name for an encoding; `~` in front starts it paused.
  public struct Alternative: Equatable, Sendable {
    public var rid: String
    public var isPaused: Bool

    public init(rid: String, isPaused: Bool = false) {
      self.rid = rid
      self.isPaused = isPaused
    }
  }

  /// Names per direction; three to five are in use.
  public static let maximumNames = 32

  /// Encodings in order; each may come in alternatives.
  public var send: [[Alternative]]
  public var receive: [[Alternative]]

  public init(send: [[Alternative]] = [], receive: [[Alternative]] = []) {
    self.send = send
    self.receive = receive
  }
}

extension SimulcastAttribute: SDPValue {
  static var grammar: String {
    "send|recv <rid>;<rid>… once per direction, at most \(maximumNames) names each"
  }

  init?(value: Substring) {
    self.init()
    var fields = SDPFields(value)
    while let way = fields.next() {
      guard let list = fields.next(), let encodings = Self.encodings(list) else { return nil }
      switch way {
      case "send" where send.isEmpty: send = encodings
      case "recv" where receive.isEmpty: receive = encodings
      default: return nil
      }
    }
    guard !send.isEmpty || !receive.isEmpty else { return nil }
  }

  private static func encodings(_ list: Substring) -> [[Alternative]]? {
    guard list.utf8.count(where: { $0 == 0x3B || $0 == 0x2C }) < maximumNames else { return nil }
    var encodings: [[Alternative]] = []
    for encoding in list.parts(at: 0x3B) {
      var alternatives: [Alternative] = []
      for name in encoding.parts(at: 0x2C) {
        let isPaused = name.utf8.first == 0x7E
        let rid = isPaused ? name.dropFirst() : name
        guard rid.isRID else { return nil }
        alternatives.append(Alternative(rid: String(rid), isPaused: isPaused))
      }
      encodings.append(alternatives)
    }
    return encodings
  }

  var value: String {
    let list = { (encodings: [[Alternative]]) in
      encodings.map { $0.map { ($0.isPaused ? "~" : "") + $0.rid }.joined(separator: ",") }
        .joined(separator: ";")
    }
    return [("send", send), ("recv", receive)].filter { !$0.1.isEmpty }.map { $0.0 + " " + list($0.1) }
      .joined(separator: " ")
  }
}
