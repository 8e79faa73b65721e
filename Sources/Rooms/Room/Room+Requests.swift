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
    guard member.requests.take(now: now) else { throw .tooOften }
    return member
  }

  // MARK: - Oneself

  /// Nobody gets a track that is held, whatever its publisher sends.
  func mute(_ track: String, _ muted: Bool, by id: ParticipantID) throws(RequestError) {
    let member = try asking(id)
    for transport in member.transports {
      guard let position = transport.published.firstIndex(where: { $0.info.id.text == track }) else {
        continue
      }
      guard transport.published[position].info.muted != muted else { return }
      transport.published[position].info.muted = muted
      let changed = transport.published[position]
      for index in member.info.tracks.indices where member.info.tracks[index].id == changed.info.id {
        member.info.tracks[index].muted = muted
      }
      media.post(.mute(changed.key, muted))
      record(muted ? .trackMuted : .trackUnmuted, participant: member.info, track: changed.info)
      return
    }
    throw .unknownTrack
  }

  func update(_ change: ParticipantChange, by id: ParticipantID) throws(RequestError) {
    let member = try asking(id)
    guard member.grants.canUpdateOwnMetadata else { throw .notAllowed("this (canUpdateOwnMetadata)") }
    var info = member.info
    if let name = change.name { info.name = name }
    if let metadata = change.metadata {
      guard metadata.utf8.count <= 65_536 else { throw .tooLarge("metadata") }
      info.metadata = metadata
    }
    for (key, value) in change.attributes ?? [:] { info.attributes[key] = value.isEmpty ? nil : value }
    guard info.attributes.count <= 256,
      info.attributes.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count }) <= 65_536
    else { throw .tooLarge("attributes") }
    guard info != member.info else { return }
    member.info = info
    if !member.grants.hidden { record(.participantUpdated, participant: info) }
  }

  // MARK: - Messages

  func send(
    _ payload: String, topic: String?, reliable: Bool, to destinations: [String]?, from id: ParticipantID
  ) throws(RequestError) {
    guard let member = member(id) else { throw .gone }
    guard member.grants.canPublishData else { throw .notAllowed("messages (canPublishData)") }
    guard payload.utf8.count <= Self.payloadLimit else { throw .tooLarge("payload") }
    guard member.messages.take(now: now), member.volume.take(Double(payload.utf8.count), now: now) else {
      throw .tooOften
    }
    let message = DataMessage(
      from: member.grants.hidden ? nil : member.id, payload: payload, topic: topic, reliable: reliable)
    let wanted = destinations.map(Set.init)
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

  public init(name: String? = nil, metadata: String? = nil, attributes: [String: String]? = nil) {
    self.name = name
    self.metadata = metadata
    self.attributes = attributes
  }
}
