package import Model

/// A file of media as a source that plays: its frames by when they are due, and where it is played again and again, one time line for
/// all its passes.
package final class FileSource {
  typealias Frame = MediaFrames.Frame

  /// How much of it is read ahead, in time, in bytes and in frames: tracks lie beside each other in a file, but not exactly.
  private static let ahead: Int64 = 1_000_000_000
  static let mostAhead = 32 * 1_024 * 1_024
  static let mostFrames = 32 * 1_024
  /// Pieces that are read at once: of a file with nothing in it, too, there is no end in sight.
  private static let mostPieces = 256

  private let input: MediaInput
  private let loops: Bool
  private var frames = MediaFrames()
  /// In the order of the file, by track; the first ones are gone up to `heads`.
  private var queues: [[Frame]] = []
  private var heads: [Int] = []
  private(set) var bytesAhead = 0
  private(set) var framesAhead = 0
  /// The time of the file's first frame, with which it begins.
  private var fileStart: Int64?
  /// Where the present pass begins, and where the last frames of each track end.
  private var passStart: Int64 = 0
  private var ends: [Int64] = []
  private var lastTimes: [Int64?] = []
  private var framesOfPass = 0
  private var isAtEnd = false
  /// Times don't go on for ever, and no pass begins after one that was cut.
  private var isBeyondEnd = false
  package private(set) var passes = 1

  /// Opens a file and reads it up to its first frame. Of standard input that is waited for.
  /// - Parameters:
  ///   - path: `-` is standard input.
  ///   - signals: a descriptor that becomes readable when nothing is to be waited for any more.
  package convenience init(_ path: String, loops: Bool, signals: Int32? = nil) throws(MediaFileError) {
    try self.init(MediaInput(path), loops: loops, signals: signals)
  }

  /// The same of bytes that come in pieces.
  package convenience init(_ bytes: [UInt8], piece: Int, loops: Bool) throws(MediaFileError) {
    try self.init(MediaInput(bytes, piece: piece), loops: loops, signals: nil)
  }

  private init(_ input: MediaInput, loops: Bool, signals: Int32?) throws(MediaFileError) {
    self.input = input
    self.loops = loops
    while queues.allSatisfy(\.isEmpty) {
      if isAtEnd { throw .empty }
      // Also where there is always something to read.
      let isNothing = try !read()
      if input.wait(milliseconds: isNothing ? 200 : 0, signals: signals) { throw .interrupted }
    }
  }

  /// Of pictures one and of sound one at most.
  package var tracks: [Codec] { frames.tracks }
  /// Names of tracks that the file has and that aren't sent.
  package var others: [String] { frames.others }

  /// Whether all of it was taken.
  package var isOver: Bool { isAtEnd && queues.indices.allSatisfy { heads[$0] == queues[$0].count } }

  /// When the next frame is due, from the beginning of the first pass; nil: none is there yet, or ever.
  package var nextTime: Int64? { nextTrack.map { queues[$0][heads[$0]].nanoseconds } }

  private var nextTrack: Int? {
    queues.indices.filter { heads[$0] < queues[$0].count }
      .min { queues[$0][heads[$0]].nanoseconds < queues[$1][heads[$1]].nanoseconds }
  }

  /// Reads on as far as is needed by that time, or is there.
  package func fill(until time: Int64) throws(MediaFileError) {
    for _ in 0..<Self.mostPieces {
      guard !isAtEnd, bytesAhead < Self.mostAhead, framesAhead < Self.mostFrames else { return }
      // The track that lags behind counts, what is due of it may lie further on; one that has had nothing so far may have nothing at all.
      guard lastTimes.contains(where: { $0.map { $0 < time + Self.ahead } ?? false }) else { return }
      guard try read() else { return }
    }
  }

  /// - Returns: nil where none is due by that time.
  package func next(until time: Int64) -> (track: Int, bytes: [UInt8], time: Int64)? {
    guard let track = nextTrack, queues[track][heads[track]].nanoseconds <= time else { return nil }
    let frame = queues[track][heads[track]]
    heads[track] += 1
    bytesAhead -= frame.bytes.count
    framesAhead -= 1
    if heads[track] >= 256 || heads[track] == queues[track].count {
      queues[track].removeSubrange(..<heads[track])
      heads[track] = 0
    }
    return (track, frame.bytes, frame.nanoseconds)
  }

  /// Reads a piece.
  /// - Returns: false where nothing more is there for now.
  private func read() throws(MediaFileError) -> Bool {
    switch try input.read() {
    case .nothing: return false
    case .bytes(let bytes):
      try frames.append(bytes)
      while let frame = try frames.next() { add(frame) }
    case .end: try endPass()
    }
    return true
  }

  private func add(_ frame: Frame) {
    while queues.count < frames.tracks.count {
      queues.append([])
      heads.append(0)
      ends.append(passStart)
      lastTimes.append(nil)
    }
    var frame = frame
    let track = frame.track
    let base = fileStart ?? frame.nanoseconds
    fileStart = base
    let (relative, overflow) = frame.nanoseconds.subtractingReportingOverflow(base)
    guard !overflow, relative.magnitude < Self.longest else { return }
    let time = relative + passStart
    guard time < Self.end else {
      isBeyondEnd = true
      return
    }
    frame.nanoseconds = time
    // A picture is shown as long as the one before was; of a single one a second's 25th.
    let last = lastTimes[track]
    let length =
      frame.duration > 0 ? frame.duration : last.map { min(abs(time - $0), 1_000_000_000) } ?? 40_000_000
    ends[track] = max(ends[track], time + length)
    lastTimes[track] = max(last ?? time, time)
    framesOfPass += 1
    bytesAhead += frame.bytes.count
    framesAhead += 1
    queues[track].append(frame)
  }
  /// A year: what is further away is no time.
  private static let longest: UInt64 = 31_536_000_000_000_000
  /// A hundred of them, in which all passes come to an end.
  private static let end: Int64 = 3_153_600_000_000_000_000

  private func endPass() throws(MediaFileError) {
    guard loops, framesOfPass > 0, !isBeyondEnd else {
      isAtEnd = true
      return
    }
    try input.rewind()
    frames.beginAgain()
    passStart = ends.max() ?? passStart
    framesOfPass = 0
    passes += 1
  }
}
