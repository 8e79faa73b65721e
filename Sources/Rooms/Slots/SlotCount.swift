/// Slots of each kind.
struct SlotCount: Equatable, Sendable {
  var audio = 0
  var video = 0

  var isZero: Bool { audio == 0 && video == 0 }
}
