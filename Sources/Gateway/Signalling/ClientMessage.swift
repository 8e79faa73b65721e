internal import FoundationEssentials
package import Rooms

/// What names a request, so that its answer can name it too: a string of up to 64 bytes or a whole number.
package enum RequestID: Hashable, Sendable, Codable {
  case text(String)
  case number(Int)

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    }
  }
}

/// A message from a client of the native door.
package struct ClientMessage: Equatable, Sendable {
  package enum Content: Equatable, Sendable {
    case auth(token: String)
    case resume(token: String, after: Int)
    case offer(SessionOffer)
    case candidate(String, mid: String)
    case subscribe(track: String, mid: String?)
    case unsubscribe(track: String)
    case mute(track: String, muted: Bool)
    case update(ParticipantChange)
    case data(OutgoingMessage)
    case leave
    case ping
    /// A type that isn't known here: ignored, so that newer clients can speak to older servers.
    case unknown(type: String)
  }

  package var id: RequestID?
  package var content: Content

  static let maximumSDPBytes = 262_144
  static let maximumTracks = 64
  static let maximumMetadataBytes = 65_536
  static let maximumAttributes = 256
  /// Base64 of 16 KiB.
  static let maximumPayloadBytes = 21_848
  static let maximumDestinations = 256
}

/// Why a message isn't one; `field` is the first that is wrong.
package enum ClientMessageError: Error, Equatable, Sendable {
  case notJSON
  case field(String, id: RequestID?)
  /// Understood by later versions; ignoring it would not be what was asked for.
  case unsupported(String, id: RequestID?)
}

extension ClientMessage {
  package init(json: String) throws(ClientMessageError) {
    let raw: Raw
    do {
      raw = try JSONDecoder().decode(Raw.self, from: Data(json.utf8))
    } catch {
      throw .notJSON
    }
    if case .text(let text)? = raw.id.value, text.isEmpty || text.utf8.count > 64 {
      throw .field("id", id: nil)
    }
    guard raw.id.isSound else { throw .field("id", id: nil) }
    id = raw.id.value
    guard let type = raw.type.value, type.utf8.count <= 64 else { throw .field("type", id: id) }
    content = try raw.content(type: type, id: id)
  }
}

/// A field that is absent, of its type, or neither; the last shows only when the field is needed.
private struct Field<Value: Decodable>: Decodable {
  var value: Value?
  var isSound = true

  init() {}
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard !container.decodeNil() else { return }
    value = try? container.decode(Value.self)
    isSound = value != nil
  }
}

extension KeyedDecodingContainer {
  fileprivate func field<Value>(_ key: Key) throws -> Field<Value> {
    try decodeIfPresent(Field<Value>.self, forKey: key) ?? Field()
  }
}

/// Anything, where only its being there counts.
private struct Something: Decodable {
  init(from decoder: any Decoder) throws {}
}

/// Every field of every message.
private struct Raw: Decodable {
  struct Track: Decodable {
    var mid: Field<String>
    var source: Field<String>
    var name: Field<String>
    var muted: Field<Bool>

    enum CodingKeys: CodingKey { case mid, source, name, muted }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      mid = try container.field(.mid)
      source = try container.field(.source)
      name = try container.field(.name)
      muted = try container.field(.muted)
    }
  }

  var type: Field<String>
  var id: Field<RequestID>
  var token: Field<String>
  var resumeToken: Field<String>
  var after: Field<Int>
  var sdp: Field<String>
  var tracks: Field<[Track]>
  var candidate: Field<String>
  var mid: Field<String>
  var track: Field<String>
  var muted: Field<Bool>
  var name: Field<String>
  var metadata: Field<String>
  var attributes: Field<[String: String]>
  var payload: Field<String>
  var topic: Field<String>
  var reliable: Field<Bool>
  var destinations: Field<[String]>
  /// The first that needs layers.
  var layered: String?

  enum CodingKeys: String, CodingKey {
    case type, id, token, resumeToken, after, sdp, tracks, candidate, mid, track, muted, name, metadata,
      attributes, payload
    case topic, reliable, destinations, quality, maxWidth, maxHeight, maxFrameRate, priority
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    type = try container.field(.type)
    id = try container.field(.id)
    token = try container.field(.token)
    resumeToken = try container.field(.resumeToken)
    after = try container.field(.after)
    sdp = try container.field(.sdp)
    tracks = try container.field(.tracks)
    candidate = try container.field(.candidate)
    mid = try container.field(.mid)
    track = try container.field(.track)
    muted = try container.field(.muted)
    name = try container.field(.name)
    metadata = try container.field(.metadata)
    attributes = try container.field(.attributes)
    payload = try container.field(.payload)
    topic = try container.field(.topic)
    reliable = try container.field(.reliable)
    destinations = try container.field(.destinations)
    let needLayers: [CodingKeys] = [.quality, .maxWidth, .maxHeight, .maxFrameRate, .priority]
    layered = try needLayers.first { try container.decodeIfPresent(Something.self, forKey: $0) != nil }?
      .rawValue
  }

  func content(type: String, id: RequestID?) throws(ClientMessageError) -> ClientMessage.Content {
    switch type {
    case "auth":
      guard let token = token.value else { throw .field("token", id: id) }
      return .auth(token: token)
    case "resume":
      guard let token = resumeToken.value, token.utf8.count <= 128 else {
        throw .field("resumeToken", id: id)
      }
      guard let after = after.value, after >= 0 else { throw .field("after", id: id) }
      return .resume(token: token, after: after)
    case "offer": return .offer(try offer(id: id))
    case "candidate":
      guard let candidate = candidate.value, candidate.utf8.count <= 1024 else {
        throw .field("candidate", id: id)
      }
      // Browsers say null or "" for "of the whole bundle".
      return .candidate(candidate, mid: try optionalMid(id) ?? "")
    case "subscribe":
      if let layered { throw .unsupported(layered, id: id) }
      return .subscribe(track: try trackID(id), mid: try optionalMid(id))
    case "unsubscribe": return .unsubscribe(track: try trackID(id))
    case "mute":
      guard let muted = muted.value else { throw .field("muted", id: id) }
      return .mute(track: try trackID(id), muted: muted)
    case "update": return .update(try change(id: id))
    case "data": return .data(try message(id: id))
    case "leave": return .leave
    case "ping": return .ping
    default: return .unknown(type: type)
    }
  }

  private func trackID(_ id: RequestID?) throws(ClientMessageError) -> String {
    guard let track = track.value, (1...64).contains(track.utf8.count) else { throw .field("track", id: id) }
    return track
  }

  private func optionalMid(_ id: RequestID?) throws(ClientMessageError) -> String? {
    guard mid.isSound, (mid.value?.utf8.count ?? 0) <= 32 else { throw .field("mid", id: id) }
    return mid.value
  }

  private func change(id: RequestID?) throws(ClientMessageError) -> ParticipantChange {
    guard name.isSound, name.value.map(AccessToken.isText) ?? true else { throw .field("name", id: id) }
    guard metadata.isSound, (metadata.value?.utf8.count ?? 0) <= ClientMessage.maximumMetadataBytes else {
      throw .field("metadata", id: id)
    }
    guard attributes.isSound, (attributes.value?.count ?? 0) <= ClientMessage.maximumAttributes else {
      throw .field("attributes", id: id)
    }
    return ParticipantChange(name: name.value, metadata: metadata.value, attributes: attributes.value)
  }

  private func message(id: RequestID?) throws(ClientMessageError) -> OutgoingMessage {
    guard let payload = payload.value, payload.utf8.count <= ClientMessage.maximumPayloadBytes,
      // Foundation takes some texts of other lengths.
      payload.utf8.count % 4 == 0, Data(base64Encoded: payload) != nil
    else { throw .field("payload", id: id) }
    guard topic.isSound, topic.value.map(AccessToken.isText) ?? true else { throw .field("topic", id: id) }
    guard reliable.isSound else { throw .field("reliable", id: id) }
    guard destinations.isSound, (destinations.value?.count ?? 0) <= ClientMessage.maximumDestinations else {
      throw .field("destinations", id: id)
    }
    return OutgoingMessage(
      payload: payload, topic: topic.value, reliable: reliable.value ?? true, destinations: destinations.value
    )
  }

  private func offer(id: RequestID?) throws(ClientMessageError) -> SessionOffer {
    guard let sdp = sdp.value, !sdp.isEmpty, sdp.utf8.count <= ClientMessage.maximumSDPBytes else {
      throw .field("sdp", id: id)
    }
    guard tracks.isSound, (tracks.value?.count ?? 0) <= ClientMessage.maximumTracks else {
      throw .field("tracks", id: id)
    }
    var offer = SessionOffer(sdp: sdp, tracks: [])
    for track in tracks.value ?? [] {
      guard let mid = track.mid.value, (1...32).contains(mid.utf8.count),
        !offer.tracks.contains(where: { $0.mid == mid })
      else { throw .field("tracks.mid", id: id) }
      guard track.source.isSound else { throw .field("tracks.source", id: id) }
      guard track.name.isSound, track.name.value.map(AccessToken.isText) ?? true else {
        throw .field("tracks.name", id: id)
      }
      guard track.muted.isSound else { throw .field("tracks.muted", id: id) }
      // A source of a newer protocol is one that isn't known here.
      let source = track.source.value.flatMap(TrackSource.init) ?? .unknown
      offer.tracks.append(
        SessionOffer.Track(
          mid: mid, source: source, name: track.name.value, muted: track.muted.value ?? false))
    }
    return offer
  }
}
