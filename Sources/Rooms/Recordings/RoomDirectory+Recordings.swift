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
    do throws(RecordingStudio.Refusal) { try await studio.reserve(name) } catch {
      throw AdministrationError(error)
    }
    switch await room.ask(.administration(.record(scope))) {
    case .recording(let id):
      return try await recording(id.text, of: name)
    case .administrationRefused(let error):
      studio.giveBack(name)
      throw error
    default:
      studio.giveBack(name)
      throw .unknownRoom
    }
  }

  /// In the order in which they began.
  /// - Parameters:
  ///   - after: what `next` of the page before was; nil: it is the first page.
  ///   - limit: how many; fewer where they have much to say.
  /// - Returns: them, and where the next page goes on; nil: there are no more.
  public func recordings(
    of name: String, after: String?, limit: Int
  ) async throws(AdministrationError) -> (found: [RecordingManifest], next: String?) {
    let studio = try requireStudio()
    do throws(RecordingStudio.Refusal) {
      return try await studio.recordings(of: name, after: after, limit: limit)
    } catch { throw AdministrationError(error) }
  }

  public func recording(
    _ id: String, of name: String
  ) async throws(AdministrationError) -> RecordingManifest {
    let studio = try requireStudio()
    do throws(RecordingStudio.Refusal) {
      if let found = try await studio.recording(id, of: name) { return found }
    } catch { throw AdministrationError(error) }
    throw .unknownRecording
  }

  /// Stops a recording; one that has ended stays as it is.
  public func stopRecording(_ id: String, of name: String) async throws(AdministrationError) {
    guard let isActive = try requireStudio().isActive(id, of: name) else { throw .unknownRecording }
    guard isActive, let room = room(of: name) else { return }
    // It may have ended in the meantime.
    _ = await room.ask(.administration(.stopRecording(id)))
  }

  /// Erases a recording that has ended, with its files.
  public func eraseRecording(_ id: String, of name: String) async throws(AdministrationError) {
    let studio = try requireStudio()
    try await stopRecording(id, of: name)
    // Its last bytes may still be on their way to the disk.
    for _ in 0..<Self.erasePatience where studio.isActive(id, of: name) == true {
      do { try await media.port.pause(.milliseconds(20)) } catch { break }
    }
    do throws(RecordingStudio.Refusal) { try await studio.erase(id, of: name) } catch {
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
    case .roomFull(let count): self = .full("recordings of the room: \(count)")
    case .tooMany(let count): self = .full("recordings that are kept: \(count)")
    case .tooManyOfRoom(let count): self = .full("recordings of rooms of this name that are kept: \(count)")
    case .noSpace: self = .noSpace
    case .isActive: self = .recordingActive
    case .unknown: self = .unknownRecording
    case .slow: self = .diskSlow
    case .storage(let reason): self = .notErased(reason)
    }
  }
}
