/// `a=rtpmap` (RFC 8866 §6.6): the codec behind a payload type.
public struct RTPMapAttribute: Equatable, Sendable {
  public var payloadType: UInt8
  public var encodingName: String
  /// Hertz.
  public var clockRate: UInt32
  /// Audio only; absent means one.
  public var channels: UInt16?

  public init(payloadType: UInt8, encodingName: String, clockRate: UInt32, channels: UInt16? = nil) {
    self.payloadType = payloadType
    self.encodingName = encodingName
    self.clockRate = clockRate
    self.channels = channels
  }
}

extension RTPMapAttribute: SDPValue {
  static var grammar: String { "<payload type 0–127> <encoding>/<clock rate>[/<channels>]" }

  init?(value: Substring) {
    var fields = SDPFields(value)
    guard let payloadType = fields.nextPayloadType(), let encoding = fields.next(), fields.isAtEnd else {
      return nil
    }
    let parts = encoding.parts(at: 0x2F)
    guard (2...3).contains(parts.count), parts[0].isToken, let rate = parts[1].decimal(UInt32.self), rate > 0
    else {
      return nil
    }
    var channels: UInt16?
    if parts.count == 3 {
      guard let number = parts[2].decimal(UInt16.self) else { return nil }
      channels = number
    }
    self.init(
      payloadType: payloadType, encodingName: String(parts[0]), clockRate: rate, channels: channels)
  }

  var value: String {
    "\(payloadType) \(encodingName)/\(clockRate)" + (channels.map { "/\($0)" } ?? "")
  }
}

/// `a=fmtp` (RFC 8866 §6.15): parameters of a payload type, kept verbatim.
public struct FormatAttribute: Equatable, Sendable {
  public var payloadType: UInt8
  public var parameters: String

  public init(payloadType: UInt8, parameters: String) {
    self.payloadType = payloadType
    self.parameters = parameters
  }

  /// The `name=value` pairs between semicolons, names in lower case; a name alone has an empty value.
  public var pairs: [(name: String, value: String)] {
    parameters[...].parts(at: 0x3B).map(\.trimmed).filter { !$0.isEmpty }.map { part in
      let (name, value) = part.halves(at: 0x3D)
      return (name.trimmed.lowercased(), String((value ?? "").trimmed))
    }
  }
  public subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }
}

extension FormatAttribute: SDPValue {
  static var grammar: String { "<payload type 0–127> [<parameters>]" }

  init?(value: Substring) {
    var fields = SDPFields(value)
    guard let payloadType = fields.nextPayloadType() else { return nil }
    self.init(payloadType: payloadType, parameters: String(fields.remainder))
  }

  var value: String { "\(payloadType) \(parameters)" }
}

/// `a=rtcp-fb` (RFC 4585 §4.2): feedback that a payload type may get.
public struct FeedbackAttribute: Equatable, Sendable {
  /// nil for `*`, all of the section.
  public var payloadType: UInt8?
  /// As `nack` or `nack pli`.
  public var kind: String

  public init(payloadType: UInt8?, kind: String) {
    self.payloadType = payloadType
    self.kind = kind
  }
}

extension FeedbackAttribute: SDPValue {
  static var grammar: String { "<payload type 0–127 or *> <feedback>" }

  init?(value: Substring) {
    var fields = SDPFields(value)
    if value.utf8.starts(with: "* ".utf8) {
      _ = fields.next()
      payloadType = nil
    } else {
      guard let number = fields.nextPayloadType() else { return nil }
      payloadType = number
    }
    guard !fields.isAtEnd else { return nil }
    kind = String(fields.remainder)
  }

  var value: String { (payloadType.map { "\($0)" } ?? "*") + " " + kind }
}

/// `a=extmap` (RFC 8285 §5): the id of a header extension.
public struct ExtensionAttribute: Equatable, Sendable {
  /// 1–255; 4096–4351 ask the other side for an id of its choice.
  public var id: UInt16
  /// nil where none stands, which means that of the section.
  public var direction: MediaDirection?
  public var uri: String
  /// The extension's own parameters, verbatim.
  public var parameters: String

  public init(id: UInt16, direction: MediaDirection? = nil, uri: String, parameters: String = "") {
    self.id = id
    self.direction = direction
    self.uri = uri
    self.parameters = parameters
  }
}

extension ExtensionAttribute: SDPValue {
  static var grammar: String { "<id 1–255>[/<direction>] <URI>" }

  init?(value: Substring) {
    var fields = SDPFields(value)
    guard let head = fields.next(), let uri = fields.next() else { return nil }
    let (number, way) = head.halves(at: 0x2F)
    guard let id = number.decimal(UInt16.self), (1...255).contains(id) || (4096...4351).contains(id) else {
      return nil
    }
    var direction: MediaDirection?
    if let way {
      guard let known = MediaDirection(rawValue: String(way)) else { return nil }
      direction = known
    }
    self.init(id: id, direction: direction, uri: String(uri), parameters: String(fields.remainder))
  }

  var value: String {
    "\(id)" + (direction.map { "/" + $0.rawValue } ?? "") + " " + uri
      + (parameters.isEmpty ? "" : " " + parameters)
  }
}

extension SDPFields {
  mutating func nextPayloadType() -> UInt8? {
    guard let number = nextNumber(UInt8.self), number < 128 else { return nil }
    return number
  }
}
