internal import AccessTokens
internal import Client
internal import Configuration
internal import Engine
internal import HTTPClient
internal import Model

/// Publishes a file, and says what was sent.
struct PublishRun {
  let wanted: PublishWanted
  let terms: ClientTerms
  let style: Style
  /// Takes remarks, for standard error.
  let note: (String) -> Void

  func run(signals: Int32) throws(OperatorError) -> String {
    let source: FileSource
    do throws(MediaFileError) {
      source = try FileSource(wanted.file, loops: wanted.loops, signals: signals)
    } catch {
      if error == .interrupted {
        return style.json ? Self.json(nil, wanted.session.room).line : "sent nothing\n"
      }
      throw .session(.file(wanted.file, error))
    }
    if !source.others.isEmpty { note("left out: \(source.others.joined(separator: ", "))") }
    let publisher = FilePublisher(source)
    let what = source.tracks.map(\.encodingName).joined(separator: " and ")
    publisher.onBegin = { note("publishing \(what) into \(wanted.session.room)") }
    let end: ClientSession.End
    do throws(ClientError) {
      let session = try ClientSession(terms, publisher, clock: Clock())
      end = try session.run(signals: signals)
    } catch { throw OperatorError(error, file: wanted.file, url: terms.server.description) }
    if case .closed(let reason) = end { throw .session(.closed(reason)) }
    return style.json ? Self.json(publisher, wanted.session.room).line : Self.text(publisher)
  }

  /// - Parameter publisher: nil: it never came to that.
  static func json(_ publisher: FilePublisher?, _ room: String) -> StrictJSON {
    .object([
      "room": .string(room), "participant": .string(publisher?.participant ?? ""),
      "seconds": .number(Double(publisher?.played ?? 0) / 1e9),
      "passes": .number(Double(publisher?.passes ?? 0)),
      "tracks": .array(
        (publisher?.tracks ?? []).map { track in
          let counts = track.counts
          return .object([
            "track": .string(track.id), "kind": .string(track.codec.kind == .audio ? "audio" : "video"),
            "codec": .string(track.codec.encodingName), "frames": .number(Double(counts.frames)),
            "packets": .number(Double(counts.packets)), "bytes": .number(Double(counts.bytes)),
            "sentAgain": .number(Double(counts.sentAgain)),
            "keyFramesAsked": .number(Double(counts.keyFramesAsked)),
            "leftOut": .number(Double(counts.refused)),
          ])
        }),
    ])
  }

  static func text(_ publisher: FilePublisher) -> String {
    var table = Table([
      Table.Column(title: "TRACK"), Table.Column(title: "CODEC"),
      Table.Column(title: "FRAMES", isRight: true),
      Table.Column(title: "PACKETS", isRight: true), Table.Column(title: "SENT AGAIN", isRight: true),
      Table.Column(title: "LEFT OUT", isRight: true),
    ])
    for track in publisher.tracks {
      table.add([
        track.id, track.codec.encodingName, "\(track.counts.frames)", "\(track.counts.packets)",
        "\(track.counts.sentAgain)", "\(track.counts.refused)",
      ])
    }
    return "sent \(Figures.span(seconds: Double(publisher.played) / 1e9))\n" + table.text(width: nil)
  }
}
