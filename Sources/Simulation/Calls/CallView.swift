internal import FoundationEssentials

/// A call as its people see it.
struct CallView: Decodable {
  struct Left: Decodable {
    let id: String
    let reason: String
  }

  let id: String
  let room: String?
  let status: String
  let outcome: String?
  let allParticipants: [String]
  let invitedParticipants: [String]
  let activeParticipants: [String]
  let leftParticipants: [Left]

  /// What is wrong with it by itself: each is in one of three lists, which make up the whole.
  var fault: String? {
    let lists = invitedParticipants + activeParticipants + leftParticipants.map(\.id)
    if lists.sorted() != allParticipants.sorted() {
      return "call \(id) has \(allParticipants), of whom \(lists) are somewhere"
    }
    if Set(allParticipants).count != allParticipants.count { return "call \(id) has a person twice" }
    guard status == "inactive" else {
      return outcome == nil ? nil : "call \(id) has an outcome before its end"
    }
    if outcome == nil { return "call \(id) is over without an outcome" }
    return invitedParticipants.isEmpty && activeParticipants.isEmpty
      ? nil : "call \(id) is over, and somebody is in it"
  }

  /// Finds what reveals a block to the caller. A blocked ring looks like one without an answer.
  /// - Parameter hidden: people who have blocked the caller.
  func fault(hiding hidden: Set<String>) -> String? {
    for person in activeParticipants where hidden.contains(person) {
      return "\(person) has blocked who rang, and is shown in call \(id)"
    }
    let silent: Set = ["timedOut", "cancelled", "removed"]
    for left in leftParticipants where hidden.contains(left.id) && !silent.contains(left.reason) {
      return "\(left.id) has blocked who rang, and is shown to have left call \(id) by \(left.reason)"
    }
    return nil
  }
}

/// What who starts or joins a call is answered.
struct CallEntryView: Decodable {
  let call: CallView
  let session: String
  let device: String
  let token: String?
  let merged: Bool?
}

struct CallLeftView: Decodable {
  let call: CallView
}

struct CallListView: Decodable {
  let items: [CallView]
}

/// A key that was published.
struct CallKeyView: Decodable {
  struct Entry: Decodable { let id: String }
  let entry: Entry
}

/// The keys of a person by now.
struct CallKeysView: Decodable {
  let keys: [CallKeyView.Entry]
  let head: CallHeadView
}

struct CallNamesView: Decodable {
  let items: [String]
}

/// The head of the log of keys.
struct CallHeadView: Decodable {
  let size: Int
  let root: String
}

struct CallProblemView: Decodable {
  let type: String

  /// The last part of its type.
  var code: String { type.split(separator: ":").last.map(String.init) ?? "" }
}

extension Decodable {
  /// - Returns: nil: it is something else.
  static func read(_ bytes: [UInt8]) -> Self? { try? JSONDecoder().decode(Self.self, from: Data(bytes)) }
}
