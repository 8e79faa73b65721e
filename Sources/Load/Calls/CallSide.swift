internal import SyntheticPeers

/// One of the two people of a call, with a device.
struct CallSide {
  let person: String
  /// Of the person: it opens no room.
  let token: String
  let device: String
  /// In the room of the call; nil: not, or not any more.
  var seat: CallSeat?
  /// Numbers of its participants, one after the other.
  var numbers: Set<Int> = []
  /// What came in the seats before.
  var sound = SoundSpan()
  /// How often it came back.
  var rejoins = 0

  init(person: String, token: String, device: String) {
    self.person = person
    self.token = token
    self.device = device
  }

  var isIn: Bool { seat?.isIn ?? false }
}

/// Which of the two.
enum CallEnd: Sendable {
  case caller, callee
  var other: CallEnd { self == .caller ? .callee : .caller }
}
