internal import AccessTokens
internal import Client
internal import Configuration
internal import Engine
internal import HTTPClient
internal import Model
internal import Recording

/// Records a room, and says what was written.
struct RecordRun {
  let wanted: RecordWanted
  let terms: ClientTerms
  let style: Style
  /// Takes remarks, for standard error.
  let note: (String) -> Void
  /// Takes what is to be printed, also where an error follows.
  let show: (String) -> Void

  func run(signals: Int32) throws(OperatorError) {
    var options = RoomRecorder.Options()
    options.participant = wanted.participant
    options.form = wanted.isWebM ? .webm : .simple
    options.duration = wanted.seconds.map { .seconds($0) }
    options.folder = wanted.folder
    let recorder = RoomRecorder(options)
    recorder.onBegin = { [unowned recorder] in
      note("recording \(wanted.session.room) into \(recorder.folder)")
    }
    let clock = Clock()
    var end = ClientSession.End.done
    var failure: ClientError?
    do throws(ClientError) {
      let session = try ClientSession(terms, recorder, clock: clock)
      end = try session.run(signals: signals)
    } catch { failure = error }
    guard recorder.manifest != nil else {
      if let failure { throw OperatorError(failure, file: recorder.folder, url: terms.server.description) }
      if case .closed(let reason) = end { throw .session(.closed(reason)) }
      return
    }
    let problem = recorder.finish(reason(end, failure, recorder), now: clock.now)
    if let manifest = recorder.manifest {
      show(style.json ? Self.line(manifest) : Self.text(manifest, recorder.folder))
    }
    if let failure { throw OperatorError(failure, file: recorder.folder, url: terms.server.description) }
    if let problem { throw .session(.notWritten(recorder.folder, problem)) }
    if let reason = recorder.reason { throw .session(.recordingEnded(recorder.folder, reason)) }
    switch end {
    case .closed(.roomClosed), .done, .interrupted: break
    case .closed(let reason): throw .session(.closed(reason))
    }
  }

  private func reason(
    _ end: ClientSession.End, _ failure: ClientError?, _ recorder: RoomRecorder
  ) -> RecordingEndReason {
    if let reason = recorder.reason { return reason }
    switch failure {
    case .folder(_, let problem): return problem.isFull ? .diskFull : .storageFailed
    case .some: return .serverFailed
    case nil: break
    }
    return switch end {
    case .closed(.roomClosed): .roomFinished
    case .closed(.serverShutdown): .serverShutdown
    case .closed(.connectionLost): .serverFailed
    case .closed, .done, .interrupted: .stopped
    }
  }

  /// As in the folder, on one line.
  private static func line(_ manifest: RecordingManifest) -> String {
    let json = StrictJSON.parse(manifest.json, maximumMembers: manifest.json.count)
    return json?.line ?? TerminalText.json(String(decoding: manifest.json, as: UTF8.self)) + "\n"
  }

  static func text(_ manifest: RecordingManifest, _ folder: String) -> String {
    var table = Table([
      Table.Column(title: "FILE"), Table.Column(title: "WHOSE", isFlexible: true),
      Table.Column(title: "CODEC"),
      Table.Column(title: "BEGINS", isRight: true), Table.Column(title: "SECONDS", isRight: true),
      Table.Column(title: "FRAMES", isRight: true), Table.Column(title: "LOST", isRight: true),
    ])
    var skipped = ""
    for track in manifest.tracks {
      let owner = manifest.participants.first { $0.id == track.participant }?.identity ?? ""
      if let reason = track.reason {
        let what = track.files.isEmpty ? "not written" : "not written to its end"
        skipped += "\(what): \(track.track) of \(TerminalText.shown(owner)), \(reason.rawValue)\n"
      }
      for file in track.files {
        table.add([
          file.name, owner, file.codec, Self.seconds(file.start), Self.seconds(file.duration ?? 0),
          "\(file.frames ?? 0)", "\(track.framesLost)",
        ])
      }
    }
    let files = table.rows.isEmpty ? "nothing came of any track\n" : table.text(width: nil)
    return files + skipped + "in \(TerminalText.shown(folder)), with manifest.json\n"
  }

  private static func seconds(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10)"
  }
}
