/// A STUN or TURN server, as `RTCPeerConnection` takes it.
public struct ICEServerBody: Record {
  public static let definition = "ICEServer"
  public static let summary = "A STUN or TURN server, as RTCPeerConnection takes it."

  public var urls: [String] = []
  public var username: String?
  public var credential: String?

  public init() {}
  public init(urls: [String], username: String? = nil, credential: String? = nil) {
    (self.urls, self.username, self.credential) = (urls, username, credential)
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.texts("urls", &urls, .addresses)
    try coder.text(Field("username", "For TURN: good for a while only."), &username, .any)
    try coder.text("credential", &credential, .any)
  }
}
