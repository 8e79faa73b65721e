import Containers
import Model

/// A reader that is given a file whole and in pieces: it finds the same, or the same mistake, and no more bytes than there are.
private func readAlike<Found: Equatable>(
  _ bytes: UnsafeRawBufferPointer, _ read: ([ArraySlice<UInt8>]) -> ([Found], ContainerError?),
  size: (Found) -> Int
) {
  guard let first = bytes.first else { return }
  let file = Array(bytes.dropFirst())
  let step = Int(first) + 1
  let (whole, mistake) = read([file[...]])
  let pieces = stride(from: 0, to: file.count, by: step).map { file[$0..<min(file.count, $0 + step)] }
  let (again, other) = read(pieces)
  check(whole == again && mistake == other, "pieces of a file are the file")
  check(whole.reduce(0) { $0 + size($1) } <= file.count * 257, "frames come out of the file")
}

private func collect<Found>(
  _ pieces: [ArraySlice<UInt8>], append: (ArraySlice<UInt8>) -> Void,
  next: () throws(ContainerError) -> Found?
) -> ([Found], ContainerError?) {
  var found: [Found] = []
  for piece in pieces {
    append(piece)
    do throws(ContainerError) {
      while let frame = try next() { found.append(frame) }
    } catch { return (found, error) }
  }
  return (found, nil)
}

@Sendable func fuzzIVF(_ bytes: UnsafeRawBufferPointer) {
  readAlike(
    bytes,
    { pieces in
      var reader = IVFReader()
      return collect(
        pieces, append: { reader.append($0) }, next: { () throws(ContainerError) in try reader.next() })
    }, size: { $0.bytes.count })
}

@Sendable func fuzzOggOpus(_ bytes: UnsafeRawBufferPointer) {
  readAlike(
    bytes,
    { pieces in
      var reader = OggOpusReader()
      let read = collect(
        pieces, append: { reader.append($0) }, next: { () throws(ContainerError) in try reader.next() })
      var end: Int64 = 0
      for packet in read.0 {
        check(packet.position >= end && (120...5_760).contains(packet.samples), "packets follow each other")
        end = packet.position + Int64(packet.samples)
      }
      return read
    }, size: { $0.bytes.count })
}

@Sendable func fuzzMatroska(_ bytes: UnsafeRawBufferPointer) {
  readAlike(
    bytes,
    { pieces in
      var reader = MatroskaReader()
      let read = collect(
        pieces, append: { reader.append($0) }, next: { () throws(ContainerError) in try reader.next() })
      for frame in read.0 {
        check(reader.tracks.indices.contains(frame.track) && frame.nanoseconds >= 0, "a frame is of a track")
      }
      return read
    }, size: { $0.bytes.count })
}
