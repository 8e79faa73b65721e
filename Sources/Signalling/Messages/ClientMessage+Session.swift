internal import AccessTokens

/// How a session begins, goes on and ends.
extension ClientMessage {
  public struct Auth: Message {
    public static let type = "auth"
    public static let definition = "Auth"
    public static let summary = "Joins, as the first message."

    public var token = ""

    public init() {}
    public init(token: String) { self.token = token }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      // Its own length is the token's to judge.
      try coder.text("token", &token, .unstated(AccessToken.maximumRenewedBytes + 1))
    }
  }

  public struct Resume: Message {
    public static let type = "resume"
    public static let definition = "Resume"
    public static let summary = "Goes on with a session whose socket has gone, as the first message."

    public var resumeToken = ""
    /// The last event that is known.
    public var after = 0

    public init() {}
    public init(resumeToken: String, after: Int) { (self.resumeToken, self.after) = (resumeToken, after) }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text(Field("resumeToken", "The last that came."), &resumeToken, .from1(to: 128))
      try coder.integer(Field("after", "The last event that is known."), &after, 0...Int.max)
    }
  }

  public struct Leave: Message {
    public static let type = "leave"
    public static let definition = "Leave"
    public static let summary = "Ends the session."

    public init() {}

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.unread("reason")
    }
  }

  public struct Ping: Message {
    public static let type = "ping"
    public static let definition = "Ping"
    public static let summary = "Keeps the connection open."

    public init() {}

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {}
  }
}
