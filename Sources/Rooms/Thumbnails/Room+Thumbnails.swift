public import Engine
internal import Model

extension Room {
  /// A track of which a thumbnail may be taken now, and whether its publisher may be asked for a key frame.
  func thumbnailSource(
    _ track: String, of identity: String
  ) throws(AdministrationError) -> (key: TrackKey, asks: Bool) {
    let published = try state.pictured(track, of: identity)
    guard let asks = thumbnails.take(published.info.id, now: media.now) else { throw .tooOften }
    return (published.key, asks)
  }
}

extension RoomDirectory {
  /// Bytes of a thumbnail at most.
  public static let thumbnailBytes = 512 * 1_024
  /// How long a key frame is waited for.
  static let thumbnailPatience = Duration.seconds(2)

  /// The last key frame of a track, as its publisher sent it; everybody in the room has learned of it by then.
  /// - Throws: `noThumbnail`; `tooOften`: one was taken less than two seconds ago, or there are too many at once; `late`: no key frame
  ///   came.
  public func thumbnail(
    of track: String, by identity: String, in name: String
  ) async throws(AdministrationError) -> KeyFrame {
    guard let room = room(of: name) else { throw .unknownRoom }
    let (key, asks) = try await room.thumbnailSource(track, of: identity)
    guard thumbnailDesk.begin(of: room.number, now: media.now) else { throw .tooOften }
    defer { thumbnailDesk.end(of: room.number) }
    guard let found = await media.port.keyFrame(key, asks, Self.thumbnailPatience) else { throw .late }
    guard found.bytes.count <= Self.thumbnailBytes else {
      throw .noThumbnail("its key frames have more than 512 KiB")
    }
    // It may be muted, or gone, since.
    switch await room.ask(.administration(.thumbnail(track: track, of: identity))) {
    case .done: return found
    case .administrationRefused(let error): throw error
    default: throw .unknownRoom
    }
  }
}
