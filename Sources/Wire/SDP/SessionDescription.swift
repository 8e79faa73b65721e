public import Model

/// An offer or an answer (RFC 8866, with the attributes that JSEP, RFC 8829, uses).
///
/// Everything that was read is here under its name; attributes that Roost does not know stand in `others`. The
/// lines `i=`, `u=`, `e=`, `p=`, `r=`, `z=` and `k=` are checked for their place and dropped.
public struct SessionDescription: Equatable, Sendable {
  public static let maximumBytes = 256 * 1024
  public static let maximumLines = 10_000
  public static let maximumLineBytes = 8 * 1024
  public static let maximumSections = 128

  public var origin: SessionOrigin
  /// The value of `s=`; "-" where there is nothing to say.
  public var name: String
  public var connection: ConnectionAddress?
  public var bandwidths: [Bandwidth]
  /// At least one (RFC 8866 §5.9); 0 and 0 for a session without bounds.
  public var times: [SessionTime]
  public var groups: [GroupAttribute]
  public var isICELite: Bool
  /// Attributes that sections inherit.
  public var shared: SharedAttributes
  public var others: [OtherAttribute]
  public var media: [MediaDescription]

  public init(
    origin: SessionOrigin, name: String = "-", connection: ConnectionAddress? = nil,
    bandwidths: [Bandwidth] = [],
    times: [SessionTime] = [SessionTime()], groups: [GroupAttribute] = [], isICELite: Bool = false,
    shared: SharedAttributes = SharedAttributes(), others: [OtherAttribute] = [],
    media: [MediaDescription] = []
  ) {
    self.origin = origin
    self.name = name
    self.connection = connection
    self.bandwidths = bandwidths
    self.times = times
    self.groups = groups
    self.isICELite = isICELite
    self.shared = shared
    self.others = others
    self.media = media
  }

  /// What holds for a section: its own attributes, and the session's where it has none.
  ///
  /// Header extensions of both levels add up; of the ICE credentials each half is inherited alone.
  public func attributes(of section: MediaDescription) -> SharedAttributes {
    var result = section.shared
    result.iceUfrag = result.iceUfrag ?? shared.iceUfrag
    result.icePassword = result.icePassword ?? shared.icePassword
    if result.iceOptions.isEmpty { result.iceOptions = shared.iceOptions }
    if result.fingerprints.isEmpty { result.fingerprints = shared.fingerprints }
    result.setup = result.setup ?? shared.setup
    result.direction = result.direction ?? shared.direction
    result.extensions += shared.extensions
    result.allowsMixedExtensions = result.allowsMixedExtensions || shared.allowsMixedExtensions
    result.endOfCandidates = result.endOfCandidates || shared.endOfCandidates
    return result
  }
}

/// The line `o=`: who made this description and the how-manieth of the session it is (RFC 8866 §5.2).
public struct SessionOrigin: Equatable, Sendable {
  public var username: String
  public var sessionID: UInt64
  public var version: UInt64
  public var address: ConnectionAddress

  public init(
    username: String = "-", sessionID: UInt64, version: UInt64,
    address: ConnectionAddress = ConnectionAddress(family: .ip4, host: "127.0.0.1")
  ) {
    self.username = username
    self.sessionID = sessionID
    self.version = version
    self.address = address
  }
}

/// An address as `o=` and `c=` carry it; a host name may stand in its place.
public struct ConnectionAddress: Equatable, Sendable {
  public enum Family: String, Sendable {
    case ip4 = "IP4"
    case ip6 = "IP6"
  }

  public var family: Family
  public var host: String

  public init(family: Family, host: String) {
    self.family = family
    self.host = host
  }
  public init(_ address: SocketAddress) {
    self.init(family: address.isIPv4 ? .ip4 : .ip6, host: address.host)
  }

  /// No address at all, as sections carry it that wait for candidates or are declined.
  public static let none = ConnectionAddress(family: .ip4, host: "0.0.0.0")
}

/// The line `t=`, in seconds since 1900.
public struct SessionTime: Equatable, Sendable {
  public var start: UInt64
  public var stop: UInt64

  public init(start: UInt64 = 0, stop: UInt64 = 0) {
    self.start = start
    self.stop = stop
  }
}

/// The line `b=`, as `AS` in kbit/s or `TIAS` in bit/s (RFC 8866 §5.8, RFC 3890).
public struct Bandwidth: Equatable, Sendable {
  public var type: String
  public var value: UInt64

  public init(type: String, value: UInt64) {
    self.type = type
    self.value = value
  }
}

/// `a=group` (RFC 5888 §5); the semantics that matters here is `BUNDLE` (RFC 9143).
public struct GroupAttribute: Equatable, Sendable {
  public var semantics: String
  public var mids: [String]

  public init(semantics: String, mids: [String]) {
    self.semantics = semantics
    self.mids = mids
  }
}

/// An attribute that Roost doesn't know; without value it is a flag.
public struct OtherAttribute: Equatable, Sendable {
  public var name: String
  public var value: String?

  public init(name: String, value: String? = nil) {
    self.name = name
    self.value = value
  }
}
