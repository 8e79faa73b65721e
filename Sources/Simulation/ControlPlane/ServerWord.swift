internal import FoundationEssentials
internal import SyntheticPeers

/// A message of the server's at the native door, as a client reads it (docs/signalling.md).
struct ServerWord: Decodable {
  struct Participant: Decodable {
    /// Absent in `quality`, where this is something else.
    var id: String?
    var identity: String?
    var tracks: [Track]?
  }

  struct Track: Decodable {
    var id: String
    var kind: String
    var source: String
    var muted: Bool
    /// Absent: it doesn't.
    var mutedByAdmin: Bool?
  }

  struct Slot: Decodable {
    var mid: String
    var track: String?
  }

  struct OwnTrack: Decodable {
    var mid: String
    var track: String
  }

  struct Event: Decodable {
    var id: Int
    var type: String
    var participant: Participant?
    var track: Track?
    var reason: String?
  }

  struct Declined: Decodable {
    var mid: String
    var code: String
  }

  struct Answer: Decodable {
    var id: Int?
    var sdp: String
    var tracks: [OwnTrack]
    var slots: [Slot]
    var declined: [Declined]?
  }

  var type: String
  var id: Int?
  // joined
  var participant: Participant?
  var participants: [Participant]?
  var lastEvent: Int?
  var resumeToken: String?
  // answer, resumed
  var sdp: String?
  var tracks: [OwnTrack]?
  var slots: [Slot]?
  var answer: Answer?
  var declined: [Declined]?
  // slots
  var assignments: [Slot]?
  // offerWanted
  var audio: Int?
  var video: Int?
  var event: Event?
  var token: String?
  // error, closed, offerWanted
  var code: String?
  var message: String?
  var reason: String?

  init(_ text: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(text.utf8)) }

  /// What is read by its type alone. Keys are sorted, so that most messages end with theirs.
  static func isSample(_ text: String) -> Bool {
    text.hasSuffix(#""type":"speakers"}"#) || text.hasSuffix(#""type":"quality"}"#)
      || text.hasSuffix(#""type":"stream"}"#)
  }
}

/// What a client says at the native door.
enum ClientWord {
  static func auth(_ token: String, id: Int) -> String {
    #"{"type":"auth","token":\#(quoted(token)),"id":\#(id)}"#
  }
  static func resume(_ token: String, after: Int, id: Int) -> String {
    #"{"type":"resume","resumeToken":\#(quoted(token)),"after":\#(after),"id":\#(id)}"#
  }
  static func offer(_ sdp: String, sections: [OfferedSection], id: Int) -> String {
    let tracks = sections.compactMap { section -> String? in
      guard let publication = section.publication, let source = publication.source else { return nil }
      return
        #"{"mid":\#(quoted(section.mid)),"source":\#(quoted(source)),"muted":\#(publication.isMuted)}"#
    }
    return
      #"{"type":"offer","sdp":\#(quoted(sdp)),"tracks":[\#(tracks.joined(separator: ","))],"id":\#(id)}"#
  }
  static func subscribe(_ track: String, mid: String?, id: Int) -> String {
    let place = mid.map { #","mid":\#(quoted($0))"# } ?? ""
    return #"{"type":"subscribe","track":\#(quoted(track))\#(place),"id":\#(id)}"#
  }
  static func unsubscribe(_ track: String, id: Int) -> String {
    #"{"type":"unsubscribe","track":\#(quoted(track)),"id":\#(id)}"#
  }
  static func mute(_ track: String, _ muted: Bool, id: Int) -> String {
    #"{"type":"mute","track":\#(quoted(track)),"muted":\#(muted),"id":\#(id)}"#
  }
  static let ping = #"{"type":"ping"}"#
  static func leave(id: Int) -> String { #"{"type":"leave","id":\#(id)}"# }

  /// A JSON string (RFC 8259 §7).
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\r": result += "\\r"
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
