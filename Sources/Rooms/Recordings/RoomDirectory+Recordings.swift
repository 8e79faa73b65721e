internal import Model
public import Recording

/// Recordings, as those who run rooms reach them. Those that have ended outlive their rooms.
extension RoomDirectory {
  /// Begins a recording of a room that stands.
  /// - Throws: `recordingOff`: the server has no directory for recordings. `full`, `noSpace`, `unknownTrack`.
  public func record(
    _ name: String, _ scope: RecordingScope
  ) async throws(AdministrationError) -> RecordingManifest {
    let studio = try requireStudio()
    guard let room = room(of: name) else { throw .unknownRoom }
    do throws(RecordingStudio.Refusal) { try studio.reserve() } catch { throw AdministrationError(error) }
    switch await room.ask(.administration(.record(scope))) {
    case .recording(let id):
      guard let manifest = studio.recording(id.text, of: name) else { throw .unknownRecording }
      return manifest
    case .administrationRefused(let error):
      studio.giveBack()
      throw error
    default:
      studio.giveBack()
      throw .unknownRoom
    }
  }

  /// In the order in which they began.
  /// - Parameter after: the id of one of them.
  public func recordings(
    of name: String, after: String?, limit: Int
  ) throws(AdministrationError) -> [RecordingManifest] {
    try requireStudio().recordings(of: name, after: after, limit: limit)
  }

  public func recording(_ id: String, of name: String) throws(AdministrationError) -> RecordingManifest {
    guard let found = try requireStudio().recording(id, of: name) else { throw .unknownRecording }
    return found
  }

  /// Stops a recording; one that has ended stays as it is.
  public func stopRecording(_ id: String, of name: String) async throws(AdministrationError) {
    let known = try recording(id, of: name)
    guard known.state == .active, let room = room(of: name) else { return }
    // It may have ended in the meantime.
    _ = await room.ask(.administration(.stopRecording(id)))
  }

  /// Erases a recording that has ended, with its files.
  public func eraseRecording(_ id: String, of name: String) async throws(AdministrationError) {
    let studio = try requireStudio()
    try await stopRecording(id, of: name)
    // Its last bytes may still be on their way to the disk.
    for _ in 0..<Self.erasePatience where studio.recording(id, of: name)?.state == .active {
      do { try await media.port.pause(.milliseconds(20)) } catch { break }
    }
    do throws(RecordingStudio.Refusal) { try studio.erase(id, of: name) } catch {
      throw AdministrationError(error)
    }
  }

  /// Looks, 20 ms apart.
  private static let erasePatience = 250

  /// What runs and what has been, for the operator; nil: nothing is recorded here.
  public var recordingCounts: RecordingStudio.Counts? { studio?.counts }

  /// Passes on to rooms that their recordings ended by themselves.
  func followRecordings() async {
    guard let studio else { return }
    for await end in studio.ended {
      _ = await room(of: end.room)?.handle(.recordingEnded(RecordingID(known: end.id), end.reason))
    }
  }

  private func requireStudio() throws(AdministrationError) -> RecordingStudio {
    guard let studio else { throw .recordingOff }
    return studio
  }
}

extension AdministrationError {
  init(_ refusal: RecordingStudio.Refusal) {
    switch refusal {
    case .full(let count): self = .full("recordings at the same time: \(count)")
    case .tooMany(let count): self = .full("recordings that are kept: \(count)")
    case .noSpace: self = .noSpace
    case .isActive: self = .recordingActive
    case .unknown: self = .unknownRecording
    case .storage(let reason): self = .notErased(reason)
    }
  }
}
