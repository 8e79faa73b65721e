internal import AccessTokens
internal import HTTPServer
internal import Model
internal import Rooms

/// What a stream about rooms goes by as long as it is read.
struct StreamTerms: Sendable {
  let rooms: RoomDirectory
  /// From when on the reader's token holds no longer, in seconds since 1970.
  let expires: Int
  /// Whether the reader may still read.
  var permit: @Sendable () throws(AccessTokenRefusal) -> Void
  /// Seconds since 1970.
  let wall: @Sendable () -> Int

  /// Asked before each piece, and while the reader takes none.
  func circumstances(_ now: Instant, _ ending: HTTPBodyEnding?) -> EventStream.Circumstances {
    var present = EventStream.Circumstances(now: now, wall: wall(), ending: ending)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.readerUnasked) { return present }
    #endif
    do throws(AccessTokenRefusal) { try permit() } catch { present.refusal = EventStreamEnd(error) }
    present.drainDeadline = rooms.drainDeadline?.text
    return present
  }
}
