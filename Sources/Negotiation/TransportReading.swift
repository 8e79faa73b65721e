import Model
import Wire

extension SessionDescription {
  /// A certificate has one per hash function; more than one certificate is rare.
  private static let maximumFingerprints = 8

  /// Reads the transport that a bundle describes.
  ///
  /// - Parameters:
  ///   - section: the first accepted one, whose attributes count.
  ///   - members: all of the bundle; what the first lacks is taken from them in order, because a section that is
  ///     bundled in any case need not repeat it (RFC 9143 §7.1.3).
  ///   - role: ours, if the handshake has been agreed on.
  func remoteTransport(
    section: Int, members: [Int], isOffer: Bool, role: DTLSRole?
  ) throws(NegotiationError) -> RemoteTransport {
    let levels = ([section] + members).map { attributes(of: media[$0]) }
    guard let credentials = levels.lazy.compactMap(\.iceCredentials).first else {
      throw .missingCredentials(section: section)
    }
    guard let listed = levels.first(where: { !$0.fingerprints.isEmpty })?.fingerprints else {
      throw .missingFingerprint(section: section)
    }
    let fingerprints = Array(listed.compactMap(\.fingerprint).prefix(Self.maximumFingerprints))
    guard !fingerprints.isEmpty else {
      throw .unsupportedFingerprint(section: section, hashes: listed.map(\.hash))
    }
    guard let setup = levels.lazy.compactMap(\.setup).first else { throw .missingSetup(section: section) }
    let asked: DTLSRole
    switch setup {
    case .active: asked = .server
    case .passive: asked = .client
    // As server we choose the SRTP profile.
    case .actpass where isOffer: asked = role ?? .server
    case .actpass, .holdconn: throw .unsupportedSetup(section: section, setup)
    }
    guard role == nil || role == asked else { throw .roleChanged(section: section, setup) }
    return RemoteTransport(credentials: credentials, fingerprints: fingerprints, role: asked)
  }

  /// The usable addresses that a section names, each once, at most 64.
  func remoteCandidates(section: Int) -> [SocketAddress] {
    var seen: Set<SocketAddress> = []
    var found: [SocketAddress] = []
    for candidate in media[section].candidates.sorted(by: { $0.priority > $1.priority }) {
      guard found.count < 64, case .udp(let address) = candidate.use, seen.insert(address).inserted else {
        continue
      }
      found.append(address)
    }
    return found
  }
}

extension LocalTransport {
  /// Describes our end in a section.
  func describe(
    _ section: inout MediaDescription, credentials: ICECredentials, setup: SetupAttribute, trickles: Bool,
    listsCandidates: Bool
  ) {
    // The default candidate (RFC 8839 §4.2.1.2): IPv4 is what most can reach.
    if let address = candidates.first(where: \.isIPv4) ?? candidates.first {
      section.connection = ConnectionAddress(address)
      section.port = address.port
    } else {
      section.connection = ConnectionAddress.none
      section.port = 9
    }
    section.shared.iceUfrag = credentials.ufrag
    section.shared.icePassword = credentials.password
    section.shared.iceOptions = trickles ? ["trickle"] : []
    section.shared.fingerprints = [FingerprintAttribute(fingerprint)]
    section.shared.setup = setup
    guard listsCandidates else { return }
    section.candidates = candidates.enumerated().map { CandidateAttribute(host: $1, rank: $0) }
    section.shared.endOfCandidates = !candidates.isEmpty
  }
}
