public import Model
public import Wire

/// What both sides have after an offer and its answer.
public struct Agreement: Equatable, Sendable {
  /// nil as long as no section was ever accepted: there is nothing to connect for.
  public var transport: AgreedTransport?
  /// Everything that flows from now on, in the order of the sections.
  public var media: AgreedMedia
  /// One for each section of the description, in its order.
  public var sections: [SectionResult]
}

/// The transport below all accepted sections.
public struct AgreedTransport: Equatable, Sendable {
  public var remote: RemoteTransport
  /// Addresses that the description names and that can be used, at most 64; more may follow by signalling.
  public var remoteCandidates: [SocketAddress]
  /// The far end answers checks and never makes any.
  public var remoteIsLite: Bool
  /// Those of ours that are in force.
  public var localCredentials: ICECredentials
  /// The far end's credentials are not those of before (RFC 8445 §9).
  public var restartsICE: Bool
}

/// What became of one section.
public struct SectionResult: Equatable, Sendable {
  public enum Outcome: Equatable, Sendable {
    /// The index of its `ReceiveSection` and of its `SendSection`; neither where it is inactive.
    case accepted(receive: UInt16?, send: UInt16?)
    case declined(DeclineReason)
    /// Its owner put it to rest by port 0.
    case stopped
  }

  /// Empty where the section has none.
  public var mid: String
  public var outcome: Outcome
}

/// Why nothing flows in a section that its owner wanted. The raw value is what signalling calls it.
///
/// The answer has port 0 for it, with one exception: a section whose codecs we lack, on whose transport others
/// are bundled, is answered `inactive`.
public enum DeclineReason: String, Error, Sendable, CaseIterable {
  /// Not audio or video.
  case unsupported
  /// A protocol other than RTP over DTLS-SRTP.
  case `protocol`
  /// None of the codecs that we forward.
  case codec
  /// Outside of the BUNDLE group whose transport we use.
  case notBundled = "not-bundled"
  /// RTCP on a port of its own.
  case rtcpMux = "rtcp-mux"
  /// Neither an SSRC nor the MID header extension would tell its packets from others.
  case unidentified
  /// Its SSRC is announced by an earlier section too.
  case duplicateSSRC = "duplicate-ssrc"
  /// It gives a header extension's id to another extension.
  case extensionConflict = "extension-conflict"
  /// As many tracks have come and gone as one transport can number.
  case limit
  /// Its owner may not send what it says that it sends there.
  case notAllowed = "not-allowed"
  /// The far end answered with port 0.
  case refused
}

/// Our answer and what it amounts to.
public struct Answer: Equatable, Sendable {
  public var description: SessionDescription
  public var agreement: Agreement

  /// The text to be sent.
  public var sdp: String { description.text }
}
