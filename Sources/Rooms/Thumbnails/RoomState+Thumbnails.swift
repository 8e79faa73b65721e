internal import AccessTokens
internal import Model

/// Pictures of tracks for those who run the room.
extension RoomState {
  /// Codecs whose key frames are given; a browser decodes these by themselves.
  private static let thumbnailCodecs: [Codec] = [.vp8, .vp9, .h264]

  /// A track of which a picture may be given. Asked before one is taken, and once more as it is given.
  func pictured(_ track: String, of identity: String) throws(AdministrationError) -> PublishedTrack {
    guard let member = member(of: identity) else { throw .unknownParticipant }
    let published = members[member].transports.flatMap(\.published)
    guard let found = published.first(where: { $0.info.id.text == track }) else { throw .unknownTrack }
    guard found.info.kind == .video else { throw .noThumbnail("it is sound") }
    #if PLANTED_DEFECTS
      let isEncrypted = found.info.isEncrypted && !PlantedDefect.isOn(.thumbnailOfEncrypted)
    #else
      let isEncrypted = found.info.isEncrypted
    #endif
    guard !isEncrypted else { throw .noThumbnail("its frames are encrypted end to end") }
    // What can't be announced isn't taken.
    guard !members[member].grants.hidden else { throw .noThumbnail("its publisher is hidden") }
    guard !found.info.muted else { throw .noThumbnail("it is muted") }
    guard found.hasStarted, let codec = found.codec?.codec else {
      throw .noThumbnail("nothing has come of it yet")
    }
    guard Self.thumbnailCodecs.contains(codec) else {
      throw .noThumbnail("it is \(codec.encodingName); there are thumbnails of VP8, VP9 and H264")
    }
    return found
  }

  /// Everybody who is in learns of it, before it is given.
  mutating func giveThumbnail(_ track: String, of identity: String) throws(AdministrationError) {
    let published = try pictured(track, of: identity)
    guard let member = member(of: identity) else { throw .unknownParticipant }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.thumbnailUnannounced) { return reply(.done) }
    #endif
    record(.thumbnailTaken, of: member, track: published.info)
    reply(.done)
  }
}
