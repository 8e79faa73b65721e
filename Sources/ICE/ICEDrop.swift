internal import Model

/// Why a datagram was ignored. Nothing of it is ever sent back.
public enum ICEDrop: UInt8, Sendable, CaseIterable {
  /// No STUN message, or an attribute of it is wrong.
  case malformed = 0
  /// STUN of another method than Binding.
  case notBinding = 1
  /// A Binding indication: it keeps a NAT's mapping alive and means nothing more (RFC 8445 §11).
  case indication = 2
  case badFingerprint = 3
  /// The request names a user name fragment that isn't ours, or none.
  case unknownUfrag = 4
  case badIntegrity = 5
  /// The answer's transaction isn't open: never sent, answered before or expired.
  case notExpected = 6
  /// The answer to an open check came from another address than the one checked (RFC 8445 §7.2.5.2.1).
  case wrongAddress = 7
  /// Eight pairs are in use, and none may be replaced.
  case tableFull = 8
  /// More requests a second than are answered, or the answer would exceed three times what the address sent.
  case rateLimited = 9
  /// The far end refused our check with an error.
  case checkRefused = 10
  /// An answer has an attribute that we would have to understand (RFC 8489 §6.3.3).
  case unknownAttribute = 11

  /// A stable name, for metrics.
  public var name: String {
    switch self {
    case .malformed: "malformed"
    case .notBinding: "notBinding"
    case .indication: "indication"
    case .badFingerprint: "badFingerprint"
    case .unknownUfrag: "unknownUfrag"
    case .badIntegrity: "badIntegrity"
    case .notExpected: "notExpected"
    case .wrongAddress: "wrongAddress"
    case .tableFull: "tableFull"
    case .rateLimited: "rateLimited"
    case .checkRefused: "checkRefused"
    case .unknownAttribute: "unknownAttribute"
    }
  }
}

/// How often each reason came up.
public struct ICEDropCounters: Sendable {
  private var counts: InlineArray<12, UInt64> = InlineArray(repeating: 0)

  public init() {}

  public private(set) subscript(reason: ICEDrop) -> UInt64 {
    get { counts[Int(reason.rawValue)] }
    set { counts[Int(reason.rawValue)] = newValue }
  }

  public mutating func count(_ reason: ICEDrop) { self[reason] &+= 1 }

  func encode(into writer: inout StateWriter) {
    for reason in ICEDrop.allCases { writer.write(self[reason]) }
  }

  init(from reader: inout StateReader) throws(StateError) {
    for reason in ICEDrop.allCases { self[reason] = try reader.integer() }
  }
}
