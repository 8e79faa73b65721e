internal import Crypto
internal import Model
internal import Negotiation
internal import Wire

/// What a session offers and what was agreed on, over its life.
struct MediaOffers {
  private var negotiator: Negotiator
  private var random = RandomSource.seeded(state: Random.integer())
  private let address: SocketAddress
  private let fingerprint: Fingerprint
  private(set) var credentials: ICECredentials
  private var pendingCredentials: ICECredentials
  private(set) var isPending = false

  init(_ policy: NegotiationPolicy, address: SocketAddress, fingerprint: Fingerprint) {
    negotiator = Negotiator(policy: policy)
    self.address = address
    self.fingerprint = fingerprint
    credentials = Self.drawn(&random)
    pendingCredentials = credentials
  }

  private static func drawn(_ random: inout RandomSource) -> ICECredentials {
    ICECredentials(ufrag: random.alphanumeric(8), password: random.alphanumeric(24))
  }

  /// - Returns: SDP.
  mutating func offer(_ plan: OfferPlan, restartsICE: Bool) throws(NegotiationError) -> SessionDescription {
    pendingCredentials = restartsICE ? Self.drawn(&random) : credentials
    let local = LocalTransport(
      credentials: pendingCredentials, fingerprint: fingerprint, candidates: [address], isLite: false)
    let offer = try negotiator.offer(plan, local: local, restartICE: restartsICE, random: &random)
    isPending = true
    return offer
  }

  mutating func accept(_ answer: String) throws -> Agreement {
    let agreement = try negotiator.accept(SessionDescription(parsing: answer))
    credentials = pendingCredentials
    isPending = false
    return agreement
  }

  mutating func withdraw() {
    negotiator.withdrawOffer()
    isPending = false
  }
}
