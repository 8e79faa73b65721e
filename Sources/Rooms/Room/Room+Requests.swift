internal import AccessTokens
internal import Engine
internal import Model

extension Room {
  /// Wishes about tracks that one participant may have.
  static let subscriptionLimit = 512
  /// Characters of a message's payload: 16 KiB in base64.
  static let payloadLimit = 21_848

  // MARK: - Subscriptions

  func subscribe(_ track: String, mid: String?, by id: ParticipantID) throws(RequestError) {
    let (member, track) = try wanted(track, by: id)
    if let mid {
      let kind = member.native.slots.kind(of: track)
      guard member.native.slots.slots.contains(where: { $0.mid == mid && $0.kind == kind }) else {
        throw .unknownSlot
      }
    }
    change(member, member.native) { $0.setWish(.explicit(mid: mid), for: track, now: now) }
  }

  func unsubscribe(_ track: String, by id: ParticipantID) throws(RequestError) {
    let (member, track) = try wanted(track, by: id)
    change(member, member.native) { $0.setWish(.none, for: track, now: now) }
  }

  /// A track that the member may have.
  private func wanted(_ track: String, by id: ParticipantID) throws(RequestError) -> (Member, TrackID) {
    let member = try asking(id)
    guard member.grants.canSubscribe else { throw .notAllowed("subscribing (canSubscribe)") }
    guard let known = member.native.slots.find(track) else { throw .unknownTrack }
    guard member.native.slots.wishCount < Self.subscriptionLimit else { throw .limit(Self.subscriptionLimit) }
    return (member, known)
  }

  private func asking(_ id: ParticipantID) throws(RequestError) -> Member {
    guard let member = member(id) else { throw .gone }
    guard spend(member, { $0.requests.take(now: now) }) else { throw .tooOften }
    return member
  }

  /// What the member's identity may spend, whichever session it spends it in.
  func spend<Result>(_ member: Member, _ body: (inout Allowance) -> Result) -> Result {
    allowances.use(member.info.identity, now: now, body)
  }

  // MARK: - Oneself

  /// Nobody gets a track that is muted, whatever its publisher sends.
  func mute(_ track: String, _ muted: Bool, by id: ParticipantID) throws(RequestError) {
    let member = try asking(id)
    guard let known = member.published.first(where: { $0.info.id.text == track }) else { throw .unknownTrack }
    guard muted || !known.info.mutedByAdmin else { throw .mutedByAdmin }
    _ = setMute(of: track, of: member) { $0.mutedByPublisher = muted }
  }

  func update(_ change: ParticipantChange, by id: ParticipantID) throws(RequestError) {
    let member = try asking(id)
    guard member.grants.canUpdateOwnMetadata else { throw .notAllowed("this (canUpdateOwnMetadata)") }
    var info = member.info
    if let name = change.name { info.name = name }
    if let metadata = change.metadata { info.metadata = metadata }
    for (key, value) in change.attributes ?? [:] { info.attributes[key] = value.isEmpty ? nil : value }
    let bytes: Int
    do throws(StateExcess) { bytes = try review(info, of: member) } catch { throw RequestError(error) }
    guard info != member.info else { return }
    // What everybody is about to be sent costs one request for each 8 KiB more.
    let cost = StateBudget.eventCost(bytes) - 1
    guard spend(member, { $0.requests.take(upTo: cost, now: now) }) else { throw .tooOften }
    member.describe(info, bytes)
    if !member.grants.hidden { record(.participantUpdated, participant: info) }
  }

  // MARK: - Messages

  func send(
    _ payload: String, topic: String?, reliable: Bool, to destinations: [String]?, from id: ParticipantID
  ) throws(RequestError) {
    guard let member = member(id) else { throw .gone }
    guard member.grants.canPublishData else { throw .notAllowed("messages (canPublishData)") }
    guard payload.utf8.count <= Self.payloadLimit else { throw .tooLarge("payload") }
    let isPaid = spend(member) {
      $0.messages.take(now: now) && $0.volume.take(Double(payload.utf8.count), now: now)
    }
    guard isPaid else { throw .tooOften }
    #if PLANTED_DEFECTS
      let isHidden = member.grants.hidden && !PlantedDefect.isOn(.hiddenSender)
    #else
      let isHidden = member.grants.hidden
    #endif
    let message = DataMessage(
      from: isHidden ? nil : member.id, payload: payload, topic: topic, reliable: reliable)
    // An empty list is what SDKs send for "everybody".
    #if PLANTED_DEFECTS
      let wanted = destinations.flatMap {
        $0.isEmpty && !PlantedDefect.isOn(.nobodyInParticular) ? nil : Set($0)
      }
    #else
      let wanted = destinations.flatMap { $0.isEmpty ? nil : Set($0) }
    #endif
    for other in members where other !== member {
      guard wanted?.contains(other.info.identity) ?? true, reliable || !other.session.isSlow else { continue }
      other.session.notify(.data(message))
    }
  }
}

/// What a participant changes of itself; nil leaves as it is.
public struct ParticipantChange: Equatable, Sendable {
  public var name: String?
  public var metadata: String?
  /// Merged with those that are there; an empty value takes one away.
  public var attributes: [String: String]?

  /// Bytes; attributes together, keys and values.
  public static let metadataLimit = 65_536
  public static let attributeLimit = 256
  public static let attributeBytes = 65_536

  /// What of a participant is more than may be.
  static func excess(of info: ParticipantInfo) -> String? {
    if (info.metadata?.utf8.count ?? 0) > metadataLimit { return "metadata" }
    let bytes = info.attributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    return info.attributes.count > attributeLimit || bytes > attributeBytes ? "attributes" : nil
  }

  public init(name: String? = nil, metadata: String? = nil, attributes: [String: String]? = nil) {
    self.name = name
    self.metadata = metadata
    self.attributes = attributes
  }
}
