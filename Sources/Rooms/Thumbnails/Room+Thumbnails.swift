public import Engine
internal import Model

extension Room {
  /// A track of which a thumbnail may be taken now.
  /// - Parameter taker: stands for who asks.
  func thumbnailSource(
    _ track: String, of identity: String, for taker: Int
  ) throws(AdministrationError) -> (key: TrackKey, turn: ThumbnailPaces.Turn) {
    let published = try state.pictured(track, of: identity)
    guard let turn = thumbnails.take(published.info.id, for: taker, now: media.now) else { throw .tooOften }
    return (published.key, turn)
  }

  /// One is about to be given, of a track that may be muted, or gone, since. Everybody hears of it before, unless they have heard a moment
  /// ago that the same one takes pictures of the track.
  func giveThumbnail(
    _ track: String, of identity: String, for taker: Int, _ turn: ThumbnailPaces.Turn
  ) async throws(AdministrationError) {
    let id = try state.pictured(track, of: identity).info.id
    guard turn.isSaid else { return }
    switch await ask(.administration(.thumbnail(track: track, of: identity))) {
    case .done: thumbnails.noteSaid(id, for: taker, now: media.now)
    case .administrationRefused(let error): throw error
    default: throw .unknownRoom
    }
  }
}

extension RoomDirectory {
  /// Bytes of a thumbnail at most.
  public static let thumbnailBytes = 512 * 1_024
  /// How long a key frame is waited for.
  static let thumbnailPatience = Duration.seconds(2)

  /// The last key frame of a track, as its publisher sent it; everybody in the room has learned of it by then.
  /// - Parameter taker: stands for who asks, who may ask for so many and no more.
  /// - Throws: `noThumbnail`; `tooOften`: one was taken less than two seconds ago, or there are too many at once; `late`: no key frame
  ///   came.
  public func thumbnail(
    of track: String, by identity: String, in name: String, for taker: Int
  ) async throws(AdministrationError) -> KeyFrame {
    guard let room = room(of: name) else { throw .unknownRoom }
    guard thumbnailDesk.mayAsk(taker, now: media.now) else { throw .tooOften }
    let (key, turn) = try await room.thumbnailSource(track, of: identity, for: taker)
    guard thumbnailDesk.begin(of: room.number, for: taker, now: media.now) else { throw .tooOften }
    defer { thumbnailDesk.end(of: room.number, for: taker) }
    guard let found = await media.port.keyFrame(key, turn.asks, Self.thumbnailPatience) else { throw .late }
    guard found.bytes.count <= Self.thumbnailBytes else {
      throw .noThumbnail("its key frames have more than 512 KiB")
    }
    try await room.giveThumbnail(track, of: identity, for: taker, turn)
    return found
  }
}
