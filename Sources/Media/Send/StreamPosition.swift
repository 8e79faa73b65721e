internal import Model

/// Where a stream stands: what the next source goes on from.
struct StreamPosition: BitwiseCopyable {
  /// The highest sequence number sent; the one before the first, before the first.
  var highest: Int64
  var hasSent = false
  var timestamp: UInt32
  var arrival = Instant(nanoseconds: 0)
  var pictureID: UInt16 = 0
  var tl0PictureIndex: UInt8 = 0
  var frameNumber: UInt16 = 0
  /// The source's timestamp of the highest packet sent. No state: a picture that has begun is none that waits.
  var source: UInt32 = 0

  init(highest: Int64, timestamp: UInt32) {
    self.highest = highest
    self.timestamp = timestamp
  }

  func encode(into writer: inout StateWriter) {
    writer.write(highest)
    writer.write(hasSent)
    writer.write(timestamp)
    writer.write(arrival)
    writer.write(pictureID)
    writer.write(tl0PictureIndex)
    writer.write(frameNumber)
  }

  init(from reader: inout StateReader) throws(StateError) {
    highest = try reader.integer()
    hasSent = try reader.bool()
    timestamp = try reader.integer()
    arrival = try reader.instant()
    pictureID = try reader.integer()
    tl0PictureIndex = try reader.integer()
    frameNumber = try reader.integer()
  }
}
