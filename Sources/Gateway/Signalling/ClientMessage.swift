internal import FoundationEssentials
internal import Rooms

/// What names a request, so that its answer can name it too: a string of up to 64 bytes or a whole number.
enum RequestID: Hashable, Sendable, Codable {
  case text(String)
  case number(Int)

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    }
  }
}

/// A message from a client of the native door.
struct ClientMessage: Equatable, Sendable {
  enum Content: Equatable, Sendable {
    case auth(token: String)
    case offer(SessionOffer)
    case candidate(String, mid: String)
    case leave
    case ping
    /// A type that isn't known here: ignored, so that newer clients can speak to older servers.
    case unknown(type: String)
  }

  var id: RequestID?
  var content: Content

  static let maximumSDPBytes = 262_144
  static let maximumTracks = 64
}

/// Why a message isn't one; `field` is the first that is wrong.
enum ClientMessageError: Error, Equatable, Sendable {
  case notJSON
  case field(String, id: RequestID?)
}

extension ClientMessage {
  init(json: String) throws(ClientMessageError) {
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

/// Every field of every message.
private struct Raw: Decodable {
  struct Track: Decodable {
    var mid: Field<String>
    var source: Field<String>
    var name: Field<String>

    enum CodingKeys: CodingKey { case mid, source, name }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      mid = try container.decodeIfPresent(Field<String>.self, forKey: .mid) ?? Field()
      source = try container.decodeIfPresent(Field<String>.self, forKey: .source) ?? Field()
      name = try container.decodeIfPresent(Field<String>.self, forKey: .name) ?? Field()
    }
  }

  var type: Field<String>
  var id: Field<RequestID>
  var token: Field<String>
  var sdp: Field<String>
  var tracks: Field<[Track]>
  var candidate: Field<String>
  var mid: Field<String>

  enum CodingKeys: CodingKey { case type, id, token, sdp, tracks, candidate, mid }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    type = try container.decodeIfPresent(Field<String>.self, forKey: .type) ?? Field()
    id = try container.decodeIfPresent(Field<RequestID>.self, forKey: .id) ?? Field()
    token = try container.decodeIfPresent(Field<String>.self, forKey: .token) ?? Field()
    sdp = try container.decodeIfPresent(Field<String>.self, forKey: .sdp) ?? Field()
    tracks = try container.decodeIfPresent(Field<[Track]>.self, forKey: .tracks) ?? Field()
    candidate = try container.decodeIfPresent(Field<String>.self, forKey: .candidate) ?? Field()
    mid = try container.decodeIfPresent(Field<String>.self, forKey: .mid) ?? Field()
  }

  func content(type: String, id: RequestID?) throws(ClientMessageError) -> ClientMessage.Content {
    switch type {
    case "auth":
      guard let token = token.value else { throw .field("token", id: id) }
      return .auth(token: token)
    case "offer": return .offer(try offer(id: id))
    case "candidate":
      guard let candidate = candidate.value, candidate.utf8.count <= 1024 else {
        throw .field("candidate", id: id)
      }
      // Browsers say null or "" for "of the whole bundle".
      guard mid.isSound, (mid.value?.utf8.count ?? 0) <= 32 else { throw .field("mid", id: id) }
      return .candidate(candidate, mid: mid.value ?? "")
    case "leave": return .leave
    case "ping": return .ping
    default: return .unknown(type: type)
    }
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
      guard track.name.isSound, (track.name.value?.utf8.count ?? 0) <= 256 else {
        throw .field("tracks.name", id: id)
      }
      // A source of a newer protocol is one that isn't known here.
      let source = track.source.value.flatMap(TrackSource.init) ?? .unknown
      offer.tracks.append(SessionOffer.Track(mid: mid, source: source, name: track.name.value))
    }
    return offer
  }
}
