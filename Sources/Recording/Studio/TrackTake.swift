internal import Engine
internal import Media
internal import Model

/// One track on its way into files: the sinks that its packets come from, what makes files of them, and the file that is open.
struct TrackTake {
  /// How long it is until a sink that ended, while its track goes on, is asked for again: a worker may have had no room for it, or not
  /// have heard of the track yet.
  private static let again = Duration.seconds(1)
  /// Of sound much less comes in the time in which rings are emptied.
  private static let ringSize: (video: Int, audio: Int) = (1 << 20, 1 << 17)

  let track: RecordedTrack
  var recorder: TrackRecorder
  var entry: RecordingManifest.Track
  private var file: RecordingFile?
  private var sinks: [TrackSink?]
  private var askedAt: Instant?
  /// Whether what the manifest says has changed.
  var hasChanged = true
  /// Bytes of files that are whole.
  private var wholeBytes = 0

  var bytes: Int { wholeBytes + (file?.size ?? 0) }

  init(_ track: RecordedTrack, terms: TrackRecorder.Terms) {
    self.track = track
    entry = track.entry
    let encodings = max(1, min(track.encodings, ReceiveSection.mostEncodings))
    recorder = TrackRecorder(track.kind, encodings: encodings, terms: terms)
    sinks = Array(repeating: nil, count: encodings)
  }

  // MARK: - Packets

  /// Has its packets come, also where they came before and ended.
  mutating func listen(_ bridge: Bridge, now: Instant) {
    guard sinks.contains(where: { $0?.isEnded ?? true }) else { return }
    if let askedAt, now - askedAt < Self.again { return }
    askedAt = now
    for encoding in sinks.indices where sinks[encoding]?.isEnded ?? true {
      let key = TrackKey(peer: track.key.peer, index: track.key.index, encoding: UInt8(encoding))
      let size = track.kind == .video ? Self.ringSize.video : Self.ringSize.audio
      // It isn't woken: rings are emptied many times before they are full.
      let sink = TrackSink(key, ringSize: size, wake: {})
      sinks[encoding] = sink
      bridge.add(sink, kind: track.kind, at: worker(bridge))
    }
  }

  private func worker(_ bridge: Bridge) -> Int { min(track.key.peer.home, bridge.workerCount - 1) }

  /// Takes what has come.
  /// - Returns: when the first packet of it came, if anything did.
  mutating func takePackets() -> Instant? {
    var first: Instant?
    for case let sink? in sinks {
      let clock = sink.clock
      sink.take { packet, info in
        if first == nil { first = info.arrival }
        recorder.take(packet, info, clock: clock)
      }
    }
    return first
  }

  /// Nothing more is to come.
  func stopListening(_ bridge: Bridge) {
    for case let sink? in sinks { bridge.remove(sink, at: worker(bridge)) }
  }

  // MARK: - Files

  mutating func work(_ bridge: Bridge, in folder: RecordingFolder, now: Instant) throws(FileProblem) {
    for output in recorder.poll(now: now) {
      if case .keyFrameWanted(let encoding) = output, let sink = sinks[encoding] {
        bridge.ask(.keyFrame, for: sink, at: worker(bridge))
      }
      try perform(output, in: folder)
    }
  }

  mutating func finish(in folder: RecordingFolder, now: Instant) throws(FileProblem) {
    for output in recorder.finish(now: now) { try perform(output, in: folder) }
    noteCounts()
    entry.state = .ended
    hasChanged = true
  }

  /// Its file can't go on; what is written of it stays.
  mutating func giveUp() {
    wholeBytes = bytes
    if let last = entry.files.indices.last, let file { entry.files[last].bytes = file.size }
    file = nil
    noteCounts()
    entry.state = .ended
  }

  mutating func flush() throws(FileProblem) { try file?.flush() }

  private mutating func noteCounts() {
    let counts = recorder.counts
    entry.packetsLost = Int(clamping: counts.packetsLost)
    entry.framesLost = Int(clamping: counts.framesIncomplete &+ counts.framesSkipped)
    entry.switches = Int(clamping: counts.switches)
  }

  private mutating func perform(
    _ output: TrackRecorder.Output, in folder: RecordingFolder
  ) throws(FileProblem) {
    switch output {
    case .begin(let start): try begin(start, in: folder)
    case .write(let change): try file?.apply(change)
    case .end(let end): try self.end(end)
    case .keyFrameWanted: break
    }
  }

  private mutating func begin(_ start: SegmentStart, in folder: RecordingFolder) throws(FileProblem) {
    // What goes beyond isn't written.
    guard entry.files.count < RecordingLimits.filesOfTrack else { return }
    let name = "\(track.id).\(start.number).\(start.suffix)"
    file = try RecordingFile(name, in: folder)
    entry.files.append(
      RecordingManifest.File(
        name: name, codec: start.format.codec.encodingName, start: Double(start.start) / 1e9, bytes: 0,
        width: start.size.map { Int($0.width) }, height: start.size.map { Int($0.height) },
        clock: start.clock.map { RecordingManifest.ClockPoint($0) }))
    hasChanged = true
  }

  private mutating func end(_ end: SegmentEnd) throws(FileProblem) {
    guard let ended = file, let last = entry.files.indices.last else { return }
    try ended.flush()
    try ended.sync()
    entry.files[last].duration = Double(end.duration) / 1e9
    entry.files[last].bytes = ended.size
    entry.files[last].frames = Int(clamping: end.frames)
    if track.kind == .audio { entry.files[last].filled = Double(end.filled) / 1_000 }
    wholeBytes += ended.size
    file = nil
    hasChanged = true
  }
}
