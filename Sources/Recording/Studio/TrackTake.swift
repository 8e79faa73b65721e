internal import Media
internal import Model

/// One track on its way into files: where its packets come from, what makes files of them, and the file that is open.
struct TrackTake {
  let track: RecordedTrack
  var recorder: TrackRecorder
  var entry: RecordingManifest.Track
  private var file: RecordingFile?
  /// The file is whole but for what couldn't be written yet.
  private var ending: SegmentEnd?
  let supply: any TrackSupply
  /// Whether what the manifest says has changed.
  var hasChanged = true
  /// What comes now isn't written: it would be one file too many.
  private var isLimited = false
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

  /// Has its packets come.
  mutating func listen(now: Instant) {
    supply.listen(now: now)
    let reason: RecordingManifest.SkipReason? = supply.isRefused ? .busy : isLimited ? .limit : nil
    guard reason != entry.reason else { return }
    (entry.reason, hasChanged) = (reason, true)
  }

  // MARK: - Files

  mutating func work(
    on disk: RecordingDisk, _ files: inout FileShares, now: Instant
  ) throws(FileProblem) {
    try perform(recorder.poll(now: now), on: disk, &files)
  }

  /// - Throws: what can't be written now; to be called again for that.
  mutating func finish(
    on disk: RecordingDisk, _ files: inout FileShares, now: Instant
  ) throws(FileProblem) {
    noteEnd()
    defer { noteCounts() }
    try perform(recorder.finish(now: now), on: disk, &files)
    if let ending { try end(ending, on: disk) }
  }

  /// Its file can't go on; what is written of it stays.
  mutating func giveUp() {
    closeFile()
    noteEnd()
    noteCounts()
  }

  private mutating func noteEnd() {
    entry.state = .ended
    entry.reason = isLimited ? .limit : nil
    hasChanged = true
  }

  mutating func flush() throws(FileProblem) { try file?.flush() }

  /// How long the file is that grows.
  mutating func noteSize() {
    guard let file, let last = entry.files.indices.last else { return }
    entry.files[last].bytes = file.size
  }

  private mutating func noteCounts() {
    let counts = recorder.counts
    entry.packetsLost = Int(clamping: counts.packetsLost)
    entry.framesLost = Int(clamping: counts.framesIncomplete &+ counts.framesSkipped)
    entry.switches = Int(clamping: counts.switches)
  }

  /// All of them, also behind one that fails: each goes by those before it.
  /// - Throws: the first problem.
  private mutating func perform(
    _ outputs: [TrackRecorder.Output], on disk: RecordingDisk, _ files: inout FileShares
  ) throws(FileProblem) {
    var problem: FileProblem?
    for output in outputs {
      do throws(FileProblem) { try perform(output, on: disk, &files) } catch { problem = problem ?? error }
    }
    if let problem { throw problem }
  }

  private mutating func perform(
    _ output: TrackRecorder.Output, on disk: RecordingDisk, _ files: inout FileShares
  ) throws(FileProblem) {
    switch output {
    case .begin(let start): try begin(start, on: disk, &files)
    case .write(let change):
      try file?.apply(change)
      if let file, file.takeSyncIsDue(), let name = entry.files.last?.name { disk.sync(name) }
    case .end(let end): try self.end(end, on: disk)
    case .keyFrameWanted(let encoding): supply.requestKeyFrame(encoding: encoding)
    }
  }

  private mutating func begin(
    _ start: SegmentStart, on disk: RecordingDisk, _ files: inout FileShares
  ) throws(FileProblem) {
    // Whatever comes is not for the file before.
    closeFile()
    let name = "\(track.id).\(start.number).\(start.suffix)"
    // What goes beyond isn't written.
    guard files.take(name, of: track.publisher.identity, already: entry.files.count) else {
      (entry.reason, isLimited, hasChanged) = (.limit, true, true)
      return
    }
    isLimited = false
    file = try RecordingFile(name, in: disk.folder)
    entry.files.append(
      RecordingManifest.File(
        name: name, codec: start.format.codec.encodingName, start: Double(start.start) / 1e9, bytes: 0,
        width: start.size.map { Int($0.width) }, height: start.size.map { Int($0.height) },
        clock: start.clock.map { RecordingManifest.ClockPoint($0) }))
    hasChanged = true
  }

  private mutating func end(_ end: SegmentEnd, on disk: RecordingDisk) throws(FileProblem) {
    guard let ended = file, let last = entry.files.indices.last else { return }
    ending = end
    entry.files[last].duration = Double(end.duration) / 1e9
    entry.files[last].frames = Int(clamping: end.frames)
    if track.kind == .audio { entry.files[last].filled = Double(end.filled) / 1_000 }
    try ended.flush()
    disk.sync(entry.files[last].name)
    closeFile()
  }

  private mutating func closeFile() {
    ending = nil
    guard let file else { return }
    file.end()
    if let last = entry.files.indices.last { entry.files[last].bytes = file.written }
    wholeBytes += file.written
    self.file = nil
    hasChanged = true
  }
}
