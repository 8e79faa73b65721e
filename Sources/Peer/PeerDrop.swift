public import Media
public import Transport

/// Why a datagram or packet of a peer went no further, by the half of it that says so.
public enum PeerDrop: Hashable, Sendable, CaseIterable, CustomStringConvertible {
  case transport(TransportDrop)
  case media(SessionDrop)

  public static var allCases: [PeerDrop] {
    TransportDrop.allCases.map(PeerDrop.transport) + SessionDrop.allCases.map(PeerDrop.media)
  }

  /// The name by which it is counted for the operator; no two are alike.
  public var description: String {
    switch self {
    case .transport(let reason): "\(reason)"
    case .media(let reason): "\(reason)"
    }
  }
}

/// Plain counters of one worker's peers.
public struct PeerCounters: Sendable {
  public var transport: TransportCounters
  public var media: MediaCounters

  public init(transport: TransportCounters = TransportCounters(), media: MediaCounters = MediaCounters()) {
    self.transport = transport
    self.media = media
  }

  public subscript(reason: PeerDrop) -> UInt64 {
    switch reason {
    case .transport(let reason): transport[reason]
    case .media(let reason): media[reason]
    }
  }
  public subscript(reason: TransportDrop) -> UInt64 { transport[reason] }
  public subscript(reason: SessionDrop) -> UInt64 { media[reason] }
  public subscript(failure: HandshakeFailure) -> UInt64 { transport[failure] }
}
