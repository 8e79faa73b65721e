internal import Model

/// One push to one device, ready to be sent.
struct PushJob: Equatable, Sendable {
  /// Among those of its queue, which gives it.
  var number: UInt64 = 0
  /// A UUID, the same each time that it is sent.
  let id: String
  let device: PushDevice
  let ringId: String
  let isRing: Bool
  let payload: [UInt8]
  /// Until when the push service keeps it for a device that it doesn't reach, in seconds since 1970; 0: not at all.
  let expiration: Int64
  /// When it is too late to send it.
  let deadline: Instant
  /// How often it was sent.
  var tries = 0

  /// What it takes in memory, about.
  var bytes: Int {
    payload.count + device.token.utf8.count + device.topic.utf8.count + device.person.utf8.count + 512
  }
}
