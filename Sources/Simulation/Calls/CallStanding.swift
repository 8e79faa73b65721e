internal import CallDesk
internal import Calls

/// How a call stands, as the server has it: who is rung, in it and gone.
struct CallStanding: Equatable {
  enum Stand: Equatable {
    case rung
    /// By which device, and by which stay rooms know it.
    case active(device: String, stay: String)
    case left(reason: String, at: Int64)
  }

  struct Person: Equatable {
    var id: String
    var stand: Stand
    /// There is no such call for the person.
    var isHidden = false
  }

  /// nil: it has none.
  var room: String?
  var people: [Person]
  var isOver = false

  func stand(of person: String) -> Stand? { people.first { $0.id == person }?.stand }
}

extension CallStanding.Stand {
  var isActive: Bool { if case .active = self { true } else { false } }
  /// Rung, or in the call.
  var isPresent: Bool { if case .left = self { false } else { true } }
  /// Why it isn't there; nil: it is.
  var reason: String? { if case .left(let reason, _) = self { reason } else { nil } }
}

extension CallStanding {
  init(_ document: CallDocument) {
    room = document.room
    isOver = document.state.isEnded
    people = document.state.people.map { person in
      let stand: Stand =
        switch person.status {
        case .invited: .rung
        case .active(let session): .active(device: session.device.text, stay: session.stay.text)
        case .left(let reason, let moment): .left(reason: reason.rawValue, at: moment)
        }
      return Person(id: person.id.text, stand: stand, isHidden: person.isHidden)
    }
  }
}
