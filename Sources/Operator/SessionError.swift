internal import Client
internal import Model
internal import Recording
internal import Signalling

/// Why a command that is in a room itself did not do what it was to.
enum SessionError: Error, Equatable {
  /// The file that is to be published.
  case file(String, MediaFileError)
  case declined(codec: String, word: String)
  case noMedia(seconds: Int)
  case connectionLost(String)
  case maySubscribeToNothing
  /// The server ended the session.
  case closed(LeaveReason)
  /// Into the folder of a recording.
  case notWritten(String, String)
  /// The recording ended by itself, with what it has.
  case recordingEnded(String, RecordingEndReason)
  case system(String)

  var exitCode: Int32 {
    switch self {
    case .file, .notWritten, .recordingEnded, .system: 1
    case .noMedia, .connectionLost: 3
    case .maySubscribeToNothing, .closed(.removed): 4
    case .declined(_, let word): word == "not-allowed" ? 4 : 6
    case .closed(.roomClosed), .closed(.left): 5
    case .closed(.duplicateIdentity), .closed(.movedElsewhere): 6
    case .closed(.serverShutdown): 7
    case .closed(.connectionLost): 3
    }
  }

  var title: String {
    switch self {
    case .file(let name, let error): "\(name == "-" ? "standard input" : name): \(Self.words(error))"
    case .declined(let codec, let word):
      word == "not-allowed"
        ? "the token doesn't allow to publish this" : "the server doesn't take \(codec): \(word)"
    case .noMedia(let seconds): "no media came through within \(seconds) s"
    case .connectionLost(let text): text
    case .maySubscribeToNothing: "the token doesn't allow to get anything"
    case .closed(let reason):
      switch reason {
      case .left: "the session has ended"
      case .removed: "removed from the room"
      case .connectionLost: "the server has lost the connection"
      case .duplicateIdentity: "another participant has joined with the same identity"
      case .movedElsewhere: "the call goes on by another device"
      case .roomClosed: "the room is over"
      case .serverShutdown: "the server has stopped"
      }
    case .notWritten(let folder, let text): "\(folder): \(text)"
    case .recordingEnded(let folder, let reason):
      switch reason {
      case .diskFull: "\(folder): the disk is full"
      case .storageFailed: "\(folder): files can't be written"
      default: "\(folder): the recording has ended, \(reason.rawValue)"
      }
    case .system(let text): text
    }
  }

  private static func words(_ error: MediaFileError) -> String {
    switch error {
    case .unreadable(let text): text
    case .unknownFormat: "this is neither IVF nor Ogg, WebM or Matroska"
    case .invalid(let error): "\(error)"
    case .noTrack(let others):
      "nothing in it can be sent" + (others.isEmpty ? "" : "; it has \(others.joined(separator: ", "))")
    case .empty: "it ends before its first frame"
    case .interrupted: "interrupted before its first frame"
    }
  }

  var advice: String? {
    switch self {
    case .file(_, .unknownFormat), .file(_, .noTrack):
      "ffmpeg makes one: ffmpeg -i FILE -c:v libvpx -b:v 1M -g 50 -c:a libopus OUT.webm"
    case .file(_, .invalid): "Does a player play it? ffmpeg -i FILE -c copy OUT writes it again."
    case .declined(_, "not-allowed"):
      "`roost token` makes tokens that allow publishing, unless given --no-publish."
    case .declined: "The server's media.codecs says which ones it takes; transcode the file to one of them."
    case .noMedia:
      "Is the server's UDP port (media.port) open on the way? Behind a forwarded port give --media ADDRESS:PORT."
    case .maySubscribeToNothing:
      "`roost token --no-publish --hidden` makes a token that may watch and isn't seen."
    case .notWritten(_, let text) where text == "File exists":
      "There is a recording already: give another folder by --out."
    case .notWritten: "Another folder is given by --out."
    case .recordingEnded: "What was written until then is whole; --out gives a folder on another disk."
    case .closed(.duplicateIdentity): "--identity gives it one of its own."
    case .closed, .connectionLost, .file, .system: nil
    }
  }
}
