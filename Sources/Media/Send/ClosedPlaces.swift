internal import Model

/// Packets that a stream leaves out of its source, by their numbers, so that the stream's own numbers close up behind them. Whole
/// frames are left out, so there are a few runs for each second of what may be asked for again.
///
///     source   7  8  9 10 11 12 13          9 and 10, and 12, are left out
///     stream  17 18       19    20
///
/// Each time that a source is joined to the stream its places are counted from there on.
@usableFromInline
struct ClosedPlaces: ~Copyable {
  @usableFromInline struct Run: BitwiseCopyable {
    var first: Int64
    /// The number behind its last.
    var end: Int64
    /// Places, and pictures, that were closed before it since the join.
    var places: Int64
    var pictures: UInt16
    /// Its own pictures.
    var ownPictures: UInt16
    var join: UInt8
  }

  /// Over two seconds of a stream that leaves out every other picture of sixty a second.
  private static let most = 128

  /// Keeps the forwarder in its place as well, which has this in it.
  private let inPlace = InPlace()
  @usableFromInline var runs: UnsafeMutablePointer<Run>?
  private var count = 0
  private var begin = 0
  private var lastPicture: UInt16?
  /// Names the present join; the one of the last run that is no longer kept.
  private(set) var join: UInt8 = 0
  private var forgotten: UInt8?
  /// Something was left out since the join.
  private(set) var isAny = false

  init() {}

  // The optimizer fails where the end of a value that another module may end is not to be seen there.
  @inlinable deinit { runs?.deallocate() }

  /// Another source is joined to the stream, or the same one again.
  mutating func beginAgain() {
    join &+= 1
    if join == 0 {
      // Names come again from here on: what has one of before is of no present join.
      (begin, count) = (0, 0)
      forgotten = .max
    }
    isAny = false
    lastPicture = nil
    if forgotten == join { forgotten = nil }
  }

  @inline(__always)
  private func run(_ back: Int) -> Run { runs![(begin + count - 1 - back) % Self.most] }

  /// Leaves a packet out. Packets are left out in the order of their numbers.
  /// - Parameter picture: its picture's id; nil where pictures keep theirs.
  mutating func close(_ sequence: Int64, picture: UInt16?) {
    if runs == nil { runs = .allocate(capacity: Self.most) }
    isAny = true
    let isOther = picture != nil && picture != lastPicture
    lastPicture = picture
    let last = (begin + count - 1) % Self.most
    let isOfJoin = count > 0 && runs![last].join == join
    if isOfJoin, runs![last].end == sequence {
      runs![last].end = sequence &+ 1
      if isOther { runs![last].ownPictures &+= 1 }
      return
    }
    let places = isOfJoin ? runs![last].places &+ (runs![last].end &- runs![last].first) : 0
    let pictures = isOfJoin ? runs![last].pictures &+ runs![last].ownPictures : 0
    if count == Self.most {
      forgotten = runs![begin].join
      begin = (begin + 1) % Self.most
      count -= 1
    }
    (runs! + (begin + count) % Self.most).initialize(
      to: Run(
        first: sequence, end: sequence &+ 1, places: places, pictures: pictures, ownPictures: isOther ? 1 : 0,
        join: join))
    count += 1
  }

  /// Leaves a packet of the present join out that was selected before others which wait: what lies behind it has one place less before it.
  /// - Parameter pictures: that close with it, 0 or 1.
  /// - Returns: false where its place stays open, since it is too long ago.
  mutating func insert(_ sequence: Int64, pictures: UInt16) -> Bool {
    if runs == nil { runs = .allocate(capacity: Self.most) }
    var behind = 0
    while behind < count, run(behind).join == join, run(behind).first > sequence { behind += 1 }
    let before = behind < count && run(behind).join == join ? run(behind) : nil
    let after = behind > 0 ? run(behind - 1) : nil
    if let before, before.end > sequence { return false }
    isAny = true
    let (meetsBefore, meetsAfter) = (before?.end == sequence, after?.first == sequence &+ 1)
    // Of the runs as they are, from the oldest.
    let place = count - behind
    if meetsBefore {
      self[place - 1].end = meetsAfter ? after!.end : sequence &+ 1
      self[place - 1].ownPictures &+= pictures &+ (meetsAfter ? after!.ownPictures : 0)
      if meetsAfter { remove(place) }
    } else if meetsAfter {
      self[place].first = sequence
      self[place].ownPictures &+= pictures
    } else {
      let new = Run(
        first: sequence, end: sequence &+ 1,
        places: after?.places ?? before.map { $0.places &+ ($0.end &- $0.first) } ?? 0,
        pictures: after?.pictures ?? before.map { $0.pictures &+ $0.ownPictures } ?? 0, ownPictures: pictures,
        join: join)
      guard make(new, at: place) else { return false }
    }
    let moved = meetsAfter ? behind - 1 : behind
    for back in 0..<moved {
      self[count - 1 - back].places &+= 1
      self[count - 1 - back].pictures &+= pictures
    }
    return true
  }

  /// The runs from the oldest.
  private subscript(place: Int) -> Run {
    get { runs![(begin + place) % Self.most] }
    nonmutating set { runs![(begin + place) % Self.most] = newValue }
  }

  private mutating func remove(_ place: Int) {
    for index in place..<count - 1 { self[index] = self[index + 1] }
    count -= 1
  }

  /// - Returns: false where it would be the oldest of more than are kept.
  private mutating func make(_ new: Run, at place: Int) -> Bool {
    var place = place
    if count == Self.most {
      guard place > 0 else { return false }
      forgotten = self[0].join
      begin = (begin + 1) % Self.most
      count -= 1
      place -= 1
    }
    (runs! + (begin + count) % Self.most).initialize(to: new)
    count += 1
    for index in stride(from: count - 1, to: place, by: -1) { self[index] = self[index - 1] }
    self[place] = new
    return true
  }

  /// Packets may come of a picture that was left out just now: they take no other picture's id away.
  mutating func goesOn(_ picture: UInt16) { lastPicture = picture }

  /// How many places and pictures are closed before a packet of that join; nil for one that is left out itself, or from before
  /// what is known.
  @inline(__always)
  func before(_ sequence: Int64, join: UInt8) -> (places: Int64, pictures: UInt16)? {
    guard count > 0 else { return forgotten == join ? nil : (0, 0) }
    var oldest: Run?
    for back in 0..<count {
      let run = run(back)
      guard run.join == join else {
        if oldest != nil { break }
        continue
      }
      if sequence >= run.end {
        return (run.places &+ (run.end &- run.first), run.pictures &+ run.ownPictures)
      }
      if sequence >= run.first { return nil }
      oldest = run
    }
    return isWhole(oldest, join) ? (0, 0) : nil
  }

  /// Whether a packet was left out since the join.
  func isClosed(_ sequence: Int64) -> Bool {
    for back in 0..<count {
      let run = run(back)
      guard run.join == join, sequence < run.end else { return false }
      if sequence >= run.first { return true }
    }
    return false
  }

  /// The source's number of a place of that join; a packet's place is its number less the places that are closed before it.
  /// - Returns: nil for one of before what is known.
  func source(ofPlace place: Int64, join: UInt8) -> Int64? {
    var oldest: Run?
    for back in 0..<count {
      let run = run(back)
      guard run.join == join else {
        if oldest != nil { break }
        continue
      }
      let candidate = place &+ run.places &+ (run.end &- run.first)
      if candidate >= run.end { return candidate }
      oldest = run
    }
    return isWhole(oldest, join) ? place : nil
  }

  /// Whether nothing was left out before the oldest run that is kept of a join.
  private func isWhole(_ oldest: Run?, _ join: UInt8) -> Bool {
    oldest.map { $0.places == 0 } ?? (forgotten != join)
  }

  // MARK: - State

  func encode(into writer: inout StateWriter) {
    writer.write(join)
    writer.write(forgotten != nil)
    writer.write(forgotten ?? 0)
    writer.write(lastPicture ?? .max)
    writer.write(isAny)
    writer.write(UInt32(count))
    for back in (0..<count).reversed() {
      let run = run(back)
      writer.write(run.first)
      writer.write(run.end)
      writer.write(run.places)
      writer.write(run.pictures)
      writer.write(run.ownPictures)
      writer.write(run.join)
    }
  }

  init(from reader: inout StateReader) throws(StateError) {
    self.init()
    join = try reader.integer()
    let hasForgotten = try reader.bool()
    let last: UInt8 = try reader.integer()
    forgotten = hasForgotten ? last : nil
    let picture: UInt16 = try reader.integer()
    lastPicture = picture == .max ? nil : picture
    isAny = try reader.bool()
    count = try reader.count(limit: Self.most)
    if count > 0 { runs = .allocate(capacity: Self.most) }
    for index in 0..<count {
      let offset = reader.offset
      let run = Run(
        first: try reader.integer(), end: try reader.integer(), places: try reader.integer(),
        pictures: try reader.integer(), ownPictures: try reader.integer(), join: try reader.integer())
      // Each with something in it, within what numbers can be, and in order while a join lasts.
      let before = index > 0 ? runs![index - 1] : nil
      guard run.end > run.first, run.end < 1 << 62, run.first > -(1 << 62),
        (0...(1 << 62)).contains(run.places),
        before.map({ $0.join != run.join || $0.end < run.first }) ?? true
      else {
        count = index
        throw .invalid(field: "places that are closed", offset: offset)
      }
      (runs! + index).initialize(to: run)
    }
  }
}
