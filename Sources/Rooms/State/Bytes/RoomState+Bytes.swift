internal import AccessTokens
package import Model
internal import Negotiation

/// Texts and tables are as long as a room's bounds let them become; these only keep a reader from taking a count at its
/// word.
let stateTextLimit = 1_024 * 1_024
let stateCountLimit = 1_048_576

/// A room as bytes, in sections that each begin with a version of their own. A build reads what it wrote and what the one
/// before it wrote; terms are no part of it.
extension RoomState {
  var bytes: [UInt8] {
    var writer = StateWriter()
    encodeRoom(into: &writer)
    speakers.encode(into: &writer)
    allowances.encode(into: &writer)
    writer.write(UInt32(members.count))
    for member in members { member.encode(into: &writer) }
    writer.write(UInt32(waiting.count))
    for session in waiting { session.encode(into: &writer) }
    newcomers.history.encode(into: &writer)
    newcomers.paces.encode(into: &writer)
    return writer.bytes
  }

  /// - Parameter now: the same time line as when it was written.
  init(bytes: [UInt8], terms: RoomTerms, now: Instant) throws(StateError) {
    var reader = StateReader(bytes)
    let (state, version) = try Self.read(room: &reader, terms: terms, now: now)
    self = state
    speakers = try SpeakerDetector(from: &reader)
    allowances = try AllowanceTable(from: &reader, capacity: Self.allowanceLimit)
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      members.append(try Member(from: &reader, terms: terms))
    }
    if version >= 5 {
      for _ in 0..<(try reader.count(limit: Self.waitingLimit)) {
        waiting.append(try WaitingSession(from: &reader))
      }
      newcomers.history = try DataHistory(from: &reader)
      newcomers.paces.all.full = try reader.instant()
      if version >= 6 { newcomers.paces.groups = try WaitingPaces.groups(from: &reader) }
    }
    try reader.finish()
  }

  /// State of any build as this one writes it, whatever the terms: what of it is carried over.
  package static func rewritten(_ bytes: [UInt8], now: Instant) throws(StateError) -> [UInt8] {
    let terms = RoomTerms(
      participantLimit: .max, reconnectGrace: .zero, policy: .server,
      epoch: Epoch(ntpAtZero: NTPTime(rawValue: 0)))
    return try RoomState(bytes: bytes, terms: terms, now: now).bytes
  }

  private func encodeRoom(into writer: inout StateWriter) {
    writer.write(UInt8(6))
    writer.write(id.text)
    writer.write(name)
    writer.write(created.milliseconds)
    settings.encode(into: &writer)
    writer.write(random)
    writer.write(UInt64(lastEvent))
    writer.write(optional: closed?.rawValue)
    writer.write(optional: deadline?.milliseconds)
    writer.write(UInt32(speaking.count))
    for speaker in speaking {
      writer.write(speaker.participant.text)
      writer.write(speaker.level)
    }
    stalls.encode(into: &writer)
    commonCodecs.encode(into: &writer)
    writer.write(UInt32(recordings.count))
    for recording in recordings { recording.encode(into: &writer) }
  }

  private static func read(
    room reader: inout StateReader, terms: RoomTerms, now: Instant
  ) throws(StateError) -> (state: RoomState, version: UInt8) {
    let version = try reader.version("room", upTo: 6)
    var state = RoomState(
      id: RoomID(naming: try reader.string(limit: stateTextLimit)),
      name: try reader.string(limit: stateTextLimit),
      created: WallTime(milliseconds: try reader.integer()),
      settings: try RoomSettings(from: &reader, version: version),
      terms: terms, random: try reader.random(), now: now)
    state.lastEvent = Int(truncatingIfNeeded: try reader.integer(UInt64.self))
    state.closed = try reader.bool() ? try reader.named("reason") : nil
    state.deadline = try reader.optionalInteger().map { WallTime(milliseconds: $0) }
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      state.speaking.append(
        Speaker(
          participant: ParticipantID(known: try reader.string(limit: stateTextLimit)),
          level: try reader.double()))
    }
    state.stalls = try Stalls(from: &reader, version: version, now: now)
    if version >= 2 { state.commonCodecs = try CommonCodecs(from: &reader, version: version) }
    guard version >= 4 else { return (state, version) }
    for _ in 0..<(try reader.count(limit: RoomRecording.limit)) {
      state.recordings.append(try RoomRecording(from: &reader))
    }
    return (state, version)
  }
}

extension RoomRecording {
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(id.text)
    writer.write(optional: scope.maxBytes.map { UInt64($0) })
    for words in [scope.tracks, scope.sources.map { Set($0.map(\.rawValue)) }] {
      writer.write(words != nil)
      guard let words else { continue }
      writer.write(UInt32(words.count))
      for word in words.sorted() { writer.write(word) }
    }
  }

  fileprivate init(from reader: inout StateReader) throws(StateError) {
    id = RecordingID(known: try reader.string(limit: stateTextLimit))
    var scope = RecordingScope(maxBytes: try reader.optionalInteger(UInt64.self).map { Int(clamping: $0) })
    if try reader.bool() {
      var tracks: Set<String> = []
      for _ in 0..<(try reader.count(limit: RecordingScope.trackLimit)) {
        tracks.insert(try reader.string(limit: stateTextLimit))
      }
      scope.tracks = tracks
    }
    if try reader.bool() {
      var sources: Set<TrackSource> = []
      for _ in 0..<(try reader.count(limit: TrackSource.allCases.count)) {
        sources.insert(try reader.named("source"))
      }
      scope.sources = sources
    }
    self.scope = scope
  }
}

extension RoomSettings {
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(UInt32(emptyTimeout))
    writer.write(UInt32(departureTimeout))
    writer.write(optional: maxParticipants.map { UInt32($0) })
    writer.write(optional: metadata)
    writer.write(admission)
    writer.write(isLocked)
    writer.write(dataHistory != nil)
    dataHistory?.encode(into: &writer)
  }

  /// - Parameter version: of the room that they are part of.
  fileprivate init(from reader: inout StateReader, version: UInt8) throws(StateError) {
    self.init(
      emptyTimeout: Int(try reader.integer(UInt32.self)),
      departureTimeout: Int(try reader.integer(UInt32.self)),
      maxParticipants: try reader.optionalInteger(UInt32.self).map { Int($0) },
      metadata: try reader.optionalString(limit: stateTextLimit))
    guard version >= 5 else { return }
    admission = try reader.bool()
    isLocked = try reader.bool()
    if try reader.bool() { dataHistory = try DataHistoryTerms(from: &reader) }
  }
}

extension SpeakerDetector {
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(UInt8(1))
    writer.write(UInt32(voices.count))
    for (participant, voice) in voices.sorted(by: { $0.key.text < $1.key.text }) {
      writer.write(participant.text)
      writer.write(voice.level)
      writer.write(voice.isSpeaking)
      writer.write(voice.lastLoud)
    }
  }

  fileprivate init(from reader: inout StateReader) throws(StateError) {
    _ = try reader.version("speakers", upTo: 1)
    var voices: [ParticipantID: Voice] = [:]
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      voices[ParticipantID(known: try reader.string(limit: stateTextLimit))] = Voice(
        level: try reader.double(), isSpeaking: try reader.bool(), lastLoud: try reader.instant())
    }
    self.init(voices: voices)
  }
}

extension AllowanceTable<ExactName, Allowance> {
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(UInt8(2))
    writer.write(optional: swept)
    writer.write(UInt32(spent.count))
    for (identity, allowance) in spent.sorted(by: { $0.key.text.isBefore($1.key.text) }) {
      writer.write(identity.text)
      for limit in [
        allowance.requests, allowance.offers, allowance.messages, allowance.volume, allowance.waits,
      ] {
        writer.write(limit.full)
      }
    }
  }

  fileprivate init(from reader: inout StateReader, capacity: Int) throws(StateError) {
    let version = try reader.version("allowances", upTo: 2)
    self.init(capacity: capacity)
    swept = try reader.optionalInstant()
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      let identity = ExactName(try reader.string(limit: stateTextLimit))
      var allowance = Allowance()
      allowance.requests.full = try reader.instant()
      allowance.offers.full = try reader.instant()
      allowance.messages.full = try reader.instant()
      allowance.volume.full = try reader.instant()
      if version >= 2 { allowance.waits.full = try reader.instant() }
      spent[identity] = allowance
    }
  }
}
