public import Model

/// What the devices of a person are to be given notice of: that somebody rings, or that it is over.
public struct PushNotice: Equatable, Sendable {
  public struct Ring: Equatable, Sendable {
    /// nil in a call whose media never comes to the server.
    public var room: String?
    /// By device: the token that opens the call for it.
    public var tokens: [String: String]
    /// Where to connect to.
    public var url: String?
    /// When the ring is over: after that nothing of it is pushed.
    public var expiresAt: WallTime
    /// By device: the wrapped call key, as members of a JSON object.
    public var keys: [String: [String: String]]
    /// Who has wrapped it, and which of the call's keys it is.
    public var keyFrom: String?
    public var keyIndex: Int64?
    /// How the log of keys looked to who rings: its leaves, and its root in hexadecimal digits.
    public var head: Head?
    /// The person is in another call, and rung all the same.
    public var isBusy = false

    public struct Head: Equatable, Sendable {
      public var size: Int64
      public var root: String

      public init(size: Int64, root: String) {
        self.size = size
        self.root = root
      }
    }

    public init(
      room: String? = nil, tokens: [String: String] = [:], url: String? = nil, expiresAt: WallTime,
      keys: [String: [String: String]] = [:]
    ) {
      self.room = room
      self.tokens = tokens
      self.url = url
      self.expiresAt = expiresAt
      self.keys = keys
    }
  }

  public enum Kind: Equatable, Sendable {
    case ring(Ring)
    /// - Parameter reason: `answeredElsewhere`, `declinedElsewhere`, `cancelled` or `timedOut`.
    case ended(reason: String)
  }

  /// A UUID; the same in the ring, in its end and on all devices.
  public var ringId: String
  public var callId: String
  public var callerId: String
  /// nil: names are kept from push vendors.
  public var callerName: String?
  /// `audio` or `video`.
  public var media: String
  public var kind: Kind

  public init(
    ringId: String, callId: String, callerId: String, callerName: String? = nil, media: String, kind: Kind
  ) {
    self.ringId = ringId
    self.callId = callId
    self.callerId = callerId
    self.callerName = callerName
    self.media = media
    self.kind = kind
  }

  var ring: Ring? {
    if case .ring(let ring) = kind { ring } else { nil }
  }
}
