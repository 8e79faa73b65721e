internal import AccessTokens
internal import FoundationEssentials
internal import Model
internal import Rooms

/// Reads fields of a message, and says of the first that is wrong what is wrong with it.
struct FieldReader {
  private let fields: JSONFields
  /// As in `tracks.`, for what is said about fields of an inner object.
  private let prefix: String
  let id: RequestID?

  init(_ fields: JSONFields, prefix: String = "", id: RequestID?) {
    self.fields = fields
    self.prefix = prefix
    self.id = id
  }

  func has(_ name: String) -> Bool { fields.value(name) != nil }

  private func wrong(
    _ name: String, _ problem: ClientMessageError.FieldProblem
  ) -> ClientMessageError { .field(prefix + name, problem, id: id) }

  // MARK: - Plain fields

  /// - Parameter limit: bytes of UTF-8.
  func optionalText(_ name: String, _ limit: Int) throws(ClientMessageError) -> String? {
    guard let value = fields.value(name) else { return nil }
    switch value.text(limit: limit) {
    case .text(let text): return text
    case .tooLong: throw wrong(name, .tooLong(limit))
    case .tooManyMarks:
      throw wrong(name, .expected("a string with at most \(CombiningMarks.limit) combining marks in a row"))
    case .none: throw wrong(name, .expected("a string"))
    }
  }

  func text(_ name: String, _ limit: Int) throws(ClientMessageError) -> String {
    guard let text = try optionalText(name, limit) else { throw wrong(name, .missing) }
    return text
  }

  func optionalFlag(_ name: String) throws(ClientMessageError) -> Bool? {
    guard let value = fields.value(name) else { return nil }
    guard let flag = value.boolean else { throw wrong(name, .expected("true or false")) }
    return flag
  }

  func flag(_ name: String) throws(ClientMessageError) -> Bool {
    guard let flag = try optionalFlag(name) else { throw wrong(name, .missing) }
    return flag
  }

  func natural(_ name: String) throws(ClientMessageError) -> Int {
    guard let value = fields.value(name) else { throw wrong(name, .missing) }
    guard let number = value.integer, number >= 0 else {
      throw wrong(name, .expected("a whole number from 0"))
    }
    return number
  }

  /// A name of anything: what is shown to people.
  private func name(_ field: String) throws(ClientMessageError) -> String? {
    guard let text = try optionalText(field, 128) else { return nil }
    guard AccessToken.isText(text) else {
      throw wrong(field, .expected("a text of 1 to 128 bytes without control characters"))
    }
    return text
  }

  func track() throws(ClientMessageError) -> String {
    let track = try text("track", 64)
    guard !track.isEmpty else { throw wrong("track", .expected("a track's id")) }
    return track
  }

  // MARK: - Messages

  func change() throws(ClientMessageError) -> ParticipantChange {
    var change = ParticipantChange(name: try name("name"))
    change.metadata = try optionalText("metadata", ClientMessage.maximumMetadataBytes)
    guard let value = fields.value("attributes") else { return change }
    switch value.pairs(limit: ClientMessage.maximumAttributes, bytes: ParticipantChange.attributeBytes) {
    case .pairs(let pairs): change.attributes = pairs
    case .tooMany: throw wrong("attributes", .tooLong(ClientMessage.maximumAttributes))
    case .none: throw wrong("attributes", .expected("an object of strings"))
    }
    return change
  }

  func message() throws(ClientMessageError) -> OutgoingMessage {
    let payload = try text("payload", ClientMessage.maximumPayloadBytes)
    // Foundation takes some texts of other lengths.
    guard payload.utf8.count % 4 == 0, Data(base64Encoded: payload) != nil else {
      throw wrong("payload", .expected("base64"))
    }
    var message = OutgoingMessage(payload: payload, topic: try name("topic"))
    message.reliable = try optionalFlag("reliable") ?? true
    message.destinations = try identities("destinations")
    return message
  }

  private func identities(_ name: String) throws(ClientMessageError) -> [String]? {
    guard let value = fields.value(name) else { return nil }
    switch value.items(limit: ClientMessage.maximumDestinations) {
    case .tooMany: throw wrong(name, .tooLong(ClientMessage.maximumDestinations))
    case .none: throw wrong(name, .expected("a list of identities"))
    case .items(let items):
      var texts: [String] = []
      for item in items {
        // What is longer is no identity.
        switch item.text(limit: 128) {
        case .text(let text): texts.append(text)
        case .tooLong: throw wrong(name, .expected("a list of identities of at most 128 bytes"))
        case .tooManyMarks, .none: throw wrong(name, .expected("a list of identities"))
        }
      }
      return texts
    }
  }

  func offer() throws(ClientMessageError) -> SessionOffer {
    let sdp = try text("sdp", ClientMessage.maximumSDPBytes)
    guard !sdp.isEmpty else { throw wrong("sdp", .expected("a session description")) }
    var offer = SessionOffer(sdp: sdp, tracks: [])
    guard let value = fields.value("tracks") else { return offer }
    switch value.items(limit: ClientMessage.maximumTracks) {
    case .tooMany: throw wrong("tracks", .tooLong(ClientMessage.maximumTracks))
    case .none: throw wrong("tracks", .expected("a list of tracks"))
    case .items(let items):
      var mids: Set<String> = []
      for item in items {
        guard let inner = item.fields else { throw wrong("tracks", .expected("a list of objects")) }
        let track = try FieldReader(inner, prefix: "tracks.", id: id).offeredTrack()
        guard mids.insert(track.mid).inserted else {
          throw wrong("tracks.mid", .expected("another one for each track"))
        }
        offer.tracks.append(track)
      }
    }
    return offer
  }

  private func offeredTrack() throws(ClientMessageError) -> SessionOffer.Track {
    let mid = try text("mid", 32)
    guard !mid.isEmpty else { throw wrong("mid", .expected("a section's mid")) }
    var track = SessionOffer.Track(mid: mid, source: nil, name: try name("name"))
    if let text = try optionalText("source", 64) {
      guard let source = TrackSource(rawValue: text) else {
        let all = TrackSource.allCases.map(\.rawValue).joined(separator: ", ")
        throw wrong("source", .expected("one of \(all)"))
      }
      track.source = source
    }
    track.muted = try optionalFlag("muted") ?? false
    return track
  }
}
