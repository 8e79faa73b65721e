internal import AccessTokens
internal import Model
internal import Negotiation
internal import Recording

/// What is recorded, and that everybody who is in learns of it.
extension RoomState {
  mutating func startRecording(_ scope: RecordingScope) throws(AdministrationError) {
    // Its name may be another's by now, and a recording of it would have no end.
    #if PLANTED_DEFECTS
      let isOver = isFinished && !PlantedDefect.isOn(.recordsFinished)
    #else
      let isOver = isFinished
    #endif
    guard closed == nil, !isOver else { throw .unknownRoom }
    guard recordings.count < RoomRecording.limit else {
      throw .full("recordings of the room: \(RoomRecording.limit)")
    }
    if let named = scope.tracks {
      let known = Set(members.flatMap(\.transports).flatMap(\.published).map(\.info.id.text))
      guard named.isSubset(of: known) else { throw .unknownTrack }
    }
    start()
    let recording = RoomRecording(id: RecordingID(&random), scope: scope)
    recordings.append(recording)
    emit(.recording(.begin(id: recording.id.text, room: (name, id.text), at: now, most: scope.maxBytes)))
    for member in members.indices {
      for place in places(of: member) {
        for track in self[place].published { add(track, to: recording, at: place) }
      }
    }
    record(.roomRecording, EventRecording(id: recording.id, isActive: true))
    reply(.recording(recording.id))
  }

  mutating func stopRecording(_ text: String) throws(AdministrationError) {
    let id = RecordingID(known: text)
    guard recordings.contains(where: { $0.id == id }) else { throw .unknownRecording }
    emit(.recording(.stop(text, .stopped)))
    endRecording(id, .stopped)
    reply(.done)
  }

  /// It has ended, or is about to: everybody learns of it.
  mutating func endRecording(_ id: RecordingID, _ reason: RecordingEndReason) {
    guard let place = recordings.firstIndex(where: { $0.id == id }) else { return }
    recordings.remove(at: place)
    record(.recordingEnded, EventRecording(id: id, isActive: !recordings.isEmpty, reason: reason))
  }

  /// A process before this one left it open; those who read events learn that it is over.
  mutating func noteLeftOpen(_ id: RecordingID) {
    record(.recordingEnded, EventRecording(id: id, isActive: !recordings.isEmpty, reason: .serverFailed))
  }

  mutating func endRecordings(_ reason: RecordingEndReason) {
    for recording in recordings {
      emit(.recording(.stop(recording.id.text, reason)))
      endRecording(recording.id, reason)
    }
  }

  // MARK: - Tracks

  /// A track began.
  mutating func recordTrack(_ track: PublishedTrack, at place: TransportPlace) {
    for recording in recordings { add(track, to: recording, at: place) }
  }

  /// A track is over.
  mutating func endRecordingTrack(_ track: PublishedTrack) {
    for recording in recordings where recording.scope.takes(track.info) {
      emit(.recording(.end(track: track.info.id.text, of: recording.id.text)))
    }
  }

  private mutating func add(_ track: PublishedTrack, to recording: RoomRecording, at place: TransportPlace) {
    let member = members[place.member]
    #if PLANTED_DEFECTS
      let isTaken = PlantedDefect.isOn(.recordsAll) || recording.scope.takes(track.info)
    #else
      let isTaken = recording.scope.takes(track.info)
    #endif
    guard isTaken, !member.grants.hidden else { return }
    let section = self[place].negotiator?.sections.first { $0.receive?.index == track.key.index }
    emit(
      .recording(
        .add(
          RecordedTrack(
            id: track.info.id.text, kind: track.info.kind, source: track.info.source.rawValue,
            name: track.info.name, key: track.key, encodings: section?.receive?.encodings.count ?? 1,
            isEncrypted: track.info.isEncrypted,
            publisher: RecordingManifest.Participant(
              id: member.id.text, identity: member.identity, name: member.name)),
          to: recording.id.text)))
  }
}
