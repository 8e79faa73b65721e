internal import Model
internal import Signalling
internal import SyntheticPeers
internal import Wire

/// Which codecs publishers hear that all can be shown, held against what those who are present have offered.
extension Conference {
  /// What was offered, answered and said of codecs.
  struct CodecBooks {
    /// By room.
    var rooms: [Int: CodecLedger] = [:]
    /// By participant and request: codecs of each section in which it wants pictures, by mid.
    var offered: [Int: [Int: [String: Set<String>]]] = [:]
    /// By participant: what it can be shown in one of these; nothing where it has none.
    var taken: [Int: Set<String>] = [:]
    /// By track: the codecs of its section, and since when.
    var sections: [String: (codecs: [NamedCodec], since: Instant)] = [:]
    /// By track: what `publish` named last, on the socket that serves.
    var said: [String: [NamedCodec]] = [:]
    /// By participant: when that socket was let in.
    var servedSince: [Int: Instant] = [:]
    /// Tracks of which something wrong was found: once is enough.
    var found: Set<String> = []
    /// Something has changed since it was looked at.
    var hasChanged = false
    var nextLook = Instant(nanoseconds: 0)
  }

  // MARK: - What is offered and said

  func noteOffer(_ id: Int, _ text: String, by participant: Participant) {
    guard let description = try? SessionDescription(parsing: text) else { return }
    var sections: [String: Set<String>] = [:]
    for section in description.media
    where section.media == "video" && !section.isStopped && section.shared.direction != .sendonly
      && section.shared.direction != .inactive
    {
      sections[section.mid ?? ""] = Set(section.namedCodecs.map(\.name))
    }
    books.codecs.offered[participant.number, default: [:]][id] = sections
  }

  /// The answer leaves the server.
  func noteCodecs(_ id: Int, _ answer: ServerMessage.Answer, to participant: Participant) {
    books.codecs.hasChanged = true
    let declined = Set(answer.declined.map(\.mid))
    if let offered = books.codecs.offered[participant.number]?[id] {
      let taken = offered.filter { !declined.contains($0.key) }.map(\.value)
      books.codecs.taken[participant.number] =
        taken.isEmpty ? nil : taken.reduce(into: []) { $0.formUnion($1) }
    }
    guard let description = try? SessionDescription(parsing: answer.sdp) else { return }
    for own in answer.tracks {
      guard let section = description.media.first(where: { $0.mid == own.mid }), section.media == "video"
      else {
        continue
      }
      let codecs = section.namedCodecs
      if books.codecs.sections[own.track]?.codecs != codecs {
        books.codecs.sections[own.track] = (codecs, now)
      }
    }
  }

  /// A participant is let in, or has resumed: what was said before may not have come.
  func noteServed(_ participant: Participant) {
    books.codecs.servedSince[participant.number] = now
    for track in books.codecs.said.keys where books.names[track] == participant.number {
      books.codecs.said[track] = nil
    }
  }

  func noteCodecs(_ message: ServerMessage.Publish) {
    guard books.codecs.sections[message.track] != nil else { return }
    let codecs = message.codecs.map { NamedCodec($0.payloadType, $0.codec) }
    if let before = books.codecs.said[message.track] {
      if before.contains(where: { !codecs.contains($0) }) { journal.count(.codecTakenAway) }
      if codecs.contains(where: { !before.contains($0) }) { journal.count(.codecNamedAgain) }
    }
    books.codecs.said[message.track] = codecs
  }

  // MARK: - Judging

  /// Without a change it is looked at so often.
  private static let codecInterval = Duration.milliseconds(50)
  /// From a publisher's connected media to the first time that the server compares codecs in its room.
  private static let measured = Duration.seconds(2)

  func auditCodecs() {
    guard !isEnding, books.codecs.hasChanged || now >= books.codecs.nextLook else { return }
    books.codecs.hasChanged = false
    books.codecs.nextLook = now + Self.codecInterval
    for room in 0..<plan.rooms {
      let present = participants.filter { $0.room == room && $0.key != nil && !$0.presence.hasEnded }
      var presence = CodecLedger.Presence(isEmpty: present.isEmpty)
      // A peer that neither sends nor gets anything has no regular reports, and so no samples.
      presence.isLooked = present.contains {
        $0.connection.connectedAt != .never && now - $0.connection.connectedAt >= Self.measured
          && $0.ledger.publications.values.contains(where: \.isPublished)
      }
      presence.isKnown = !present.contains(where: \.ledger.isUnsettled)
      presence.lacked = CodecLedger.lacked(
        by: present.filter(\.ledger.allowance.canSubscribe).compactMap { books.codecs.taken[$0.number] })
      var ledger = books.codecs.rooms[room] ?? CodecLedger()
      ledger.note(presence, now: now)
      books.codecs.rooms[room] = ledger
      guard presence.isLooked, presence.isKnown else { continue }
      for participant in present { auditCodecs(of: participant, ledger) }
    }
  }

  private func auditCodecs(of publisher: Participant, _ ledger: CodecLedger) {
    guard publisher.client.isOpen, let record = record(of: publisher), !record.isBroken,
      let served = books.codecs.servedSince[publisher.number], now - served > CodecWord.looking
    else { return }
    let tracks = publisher.ledger.publications.values.filter { $0.isPublished && $0.kind == .video }
    for track in tracks.compactMap(\.track).sorted() {
      guard let section = books.codecs.sections[track], now - section.since > CodecWord.looking,
        !books.codecs.found.contains(track)
      else { continue }
      journal.count(.codecsJudged)
      guard let problem = ledger.problem(section.codecs, heard: books.codecs.said[track]) else { continue }
      books.codecs.found.insert(track)
      journal.violation(now, "\(publisher.number) hears of codecs for \(track): \(problem)")
    }
  }
}

extension MediaDescription {
  /// Its codecs for pictures, without retransmissions, in its order.
  fileprivate var namedCodecs: [NamedCodec] {
    payloadTypes.compactMap { number in
      guard let name = rtpMap(of: number)?.encodingName.lowercased(), CodecLedger.codecs.contains(name) else {
        return nil
      }
      return NamedCodec(Int(number), name)
    }
  }
}
