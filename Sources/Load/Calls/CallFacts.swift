internal import FoundationEssentials

/// A call as the server has it: what of that is looked at.
struct CallFacts: Decodable, Equatable, Sendable {
  struct Left: Decodable, Equatable, Sendable {
    var id: String
    var reason: String
  }

  struct Mine: Decodable, Equatable, Sendable {
    var role: String
    var outcome: String?
  }

  var id: String
  var room: String?
  var status: String
  var outcome: String?
  var durationMs: Int?
  var invitedParticipants: [String]
  var leftParticipants: [Left]
  var mine: Mine?

  var isOver: Bool { status == "inactive" }
  /// Why a person is no longer in it.
  func reason(of person: String) -> String? { leftParticipants.first { $0.id == person }?.reason }
}

/// What who starts or joins a call is answered.
struct CallEntryFacts: Decodable {
  var call: CallFacts
  var token: String?
}

/// What who leaves a call is answered.
struct CallLeaveFacts: Decodable {
  var ended: Bool
}

/// A page of a person's history.
struct CallHistoryFacts: Decodable {
  var items: [CallFacts]
  var next: String?
}

/// `call.ringing`
struct RingFacts: Decodable {
  var ringId: String
  var call: CallFacts
  var token: String?
}

/// `ring.ended`
struct RingEndFacts: Decodable {
  var ringId: String
}

/// `state`
struct CallStateFacts: Decodable {
  var calls: [CallFacts]
}

/// What is sent.
struct CallStartBody: Encodable {
  var id: String
  var recipients: [String]
  var media = "audio"
  var deviceId: String
}

struct CallDeviceBody: Encodable {
  var deviceId: String
}

enum CallJSON {
  static func read<Facts: Decodable>(_ type: Facts.Type, _ bytes: some Sequence<UInt8>) -> Facts? {
    try? JSONDecoder().decode(type, from: Data(bytes))
  }

  static func write(_ body: some Encodable) -> [UInt8] {
    guard let bytes = try? JSONEncoder().encode(body) else {
      preconditionFailure("texts are always JSON")
    }
    return Array(bytes)
  }
}
