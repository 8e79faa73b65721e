internal import Media
internal import Model

/// One track on its way into files: where its packets come from, what makes files of them, and the file that is open.
struct TrackTake {
  let track: RecordedTrack
  var recorder: TrackRecorder
  var entry: RecordingManifest.Track
  private var file: RecordingFile?
  let supply: any TrackSupply
  /// Whether what the manifest says has changed.
  var hasChanged = true
  /// Bytes of files that are whole.
  private var wholeBytes = 0

  var bytes: Int { wholeBytes + (file?.size ?? 0) }

  init(_ track: RecordedTrack, from supply: any TrackSupply, terms: TrackRecorder.Terms) {
    self.track = track
    self.supply = supply
    entry = track.entry
    let encodings = max(1, min(track.encodings, ReceiveSection.mostEncodings))
    recorder = TrackRecorder(track.kind, encodings: encodings, terms: terms)
  }

  // MARK: - Packets

  /// Takes what has come.
  /// - Returns: when the first packet of it came, if anything did.
  mutating func takePackets() -> Instant? {
    var first: Instant?
    supply.take { packet, info, clock in
      if first == nil { first = info.arrival }
      recorder.take(packet, info, clock: clock)
    }
    return first
  }

  // MARK: - Files

  mutating func work(in folder: RecordingFolder, now: Instant) throws(FileProblem) {
    try perform(recorder.poll(now: now), in: folder)
  }

  mutating func finish(in folder: RecordingFolder, now: Instant) throws(FileProblem) {
    try perform(recorder.finish(now: now), in: folder)
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

  /// All of them, also behind one that fails: each goes by those before it.
  /// - Throws: the first problem.
  private mutating func perform(
    _ outputs: [TrackRecorder.Output], in folder: RecordingFolder
  ) throws(FileProblem) {
    var problem: FileProblem?
    for output in outputs {
      if case .keyFrameWanted(let encoding) = output { supply.requestKeyFrame(encoding: encoding) }
      do throws(FileProblem) { try perform(output, in: folder) } catch { problem = problem ?? error }
    }
    if let problem { throw problem }
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
    // Whatever comes is not for the file before.
    file = nil
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
