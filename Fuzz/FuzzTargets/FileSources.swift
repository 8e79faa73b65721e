import Client

/// A file is played by leaps that grow: the first byte says in which pieces it comes, and whether it begins over at its end.
@Sendable func fuzzFileSource(_ bytes: UnsafeRawBufferPointer) {
  guard let first = bytes.first else { return }
  let file = Array(bytes.dropFirst())
  guard let source = try? FileSource(file, piece: Int(first >> 1) * 16 + 1, loops: first & 1 != 0) else {
    return
  }
  check((1...2).contains(source.tracks.count), "of each kind there is one track at most")
  var now: Int64 = 0
  for step in 0..<62 {
    guard (try? source.fill(until: now)) != nil else { return }
    // What is read in one leap is bounded, whatever a file says of its times.
    var taken = 0
    while taken < 2_000, let frame = source.next(until: now) {
      check(frame.time <= now, "a frame is due when it comes")
      check(source.tracks.indices.contains(frame.track) && !frame.bytes.isEmpty, "a frame is of a track")
      taken += 1
    }
    if source.isOver { return }
    now = step < 40 ? now + 20_000_000 : min(now, Int64.max / 32) * 16
  }
}
