public import Wire

/// Why a whole description can't be taken; a single section that can't is declined instead. The state of the
/// negotiation is then as if the description had never come. Sections count from 0.
public enum NegotiationError: Error, Equatable, Sendable {
  case duplicateMid(String)
  /// A later description drops sections of an earlier one (RFC 3264 §8).
  case sectionsMissing(found: Int, agreed: Int)
  /// A section in use has another MID or another kind of media than before.
  case sectionChanged(section: Int, agreed: String, found: String)
  case missingCredentials(section: Int)
  case missingFingerprint(section: Int)
  case unsupportedFingerprint(section: Int, hashes: [String])
  case missingSetup(section: Int)
  case unsupportedSetup(section: Int, SetupAttribute)
  /// The DTLS role stays for the transport's life (RFC 8842 §5.5).
  case roleChanged(section: Int, SetupAttribute)
  /// Another certificate means another transport (RFC 8842 §4).
  case fingerprintChanged(section: Int)
  /// An offer of ours is unanswered; the far end's has to wait (RFC 3264 §4).
  case offerPending
  case noOfferPending
  /// Our own offer would have more sections than a description may have, or the far end's has more than are taken.
  case tooManySections(limit: Int)
  /// So many streams were announced on the transport, most of them in offers of ours that came to nothing.
  case tooManyStreams(limit: Int)
  /// The answer doesn't fit our offer.
  case answerMismatch(section: Int, AnswerMismatch)
}

/// What an answer may not do.
public enum AnswerMismatch: Equatable, Sendable {
  case sectionCount(offered: Int, answered: Int)
  case mid(offered: String, answered: String)
  case media(offered: String, answered: String)
  case revived
  case direction(offered: MediaDirection, answered: MediaDirection)
  case payloadType(UInt8)
  case headerExtension(id: UInt8)
  case unusable(DeclineReason)
}

extension NegotiationError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .duplicateMid(let mid):
      "two sections have a=mid:\(mid); give each its own"
    case .sectionsMissing(let found, let agreed):
      "\(found) sections where \(agreed) were agreed on; keep all, stop those not wanted by port 0"
    case .sectionChanged(let section, let agreed, let found):
      "section \(section) was \(agreed) and is \(found); stop it by port 0 before its place is used again"
    case .missingCredentials(let section):
      "section \(section) has no ICE credentials; add a=ice-ufrag and a=ice-pwd to it or to the session"
    case .missingFingerprint(let section):
      "section \(section) has no a=fingerprint; add one to it or to the session"
    case .unsupportedFingerprint(let section, let hashes):
      "section \(section) has fingerprints by \(hashes.joined(separator: ", ")) alone; add one by sha-256"
    case .missingSetup(let section):
      "section \(section) has no a=setup; add a=setup:actpass"
    case .unsupportedSetup(let section, let setup):
      "section \(section) has a=setup:\(setup.rawValue); use actpass in offers, active or passive in answers"
    case .roleChanged(let section, let setup):
      "section \(section) has a=setup:\(setup.rawValue), which turns the DTLS roles around; keep to actpass"
    case .fingerprintChanged(let section):
      "section \(section) has other fingerprints than before; use a new transport for a new certificate"
    case .offerPending:
      "an offer is on its way; answer it before making another"
    case .noOfferPending:
      "there is no offer that this could answer"
    case .tooManySections(let limit):
      "an offer has at most \(limit) sections; reuse those that are stopped, or use a further transport"
    case .tooManyStreams(let limit):
      "more than \(limit) streams were announced on this transport; use a new one"
    case .answerMismatch(let section, let mismatch):
      "section \(section) of the answer does not fit the offer: \(mismatch)"
    }
  }
}

extension AnswerMismatch: CustomStringConvertible {
  public var description: String {
    switch self {
    case .sectionCount(let offered, let answered): "\(offered) sections were offered, \(answered) answered"
    case .mid(let offered, let answered): "its mid is \(answered) instead of \(offered)"
    case .media(let offered, let answered): "it is \(answered) instead of \(offered)"
    case .revived: "it was offered with port 0, which has to stay"
    case .direction(let offered, let answered): "\(answered.rawValue) can't answer \(offered.rawValue)"
    case .payloadType(let number): "payload type \(number) was not offered for this codec"
    case .headerExtension(let id): "header extension id \(id) was not offered for this extension"
    case .unusable(let reason): "it is accepted but can't be used (\(reason.rawValue))"
    }
  }
}
