internal import CallDesk
internal import KeyDirectory

/// What calls are asked.
extension BodyBounds {
  /// Names in one request, which are bounded again by how many people a call can have.
  static let mostRecipients = 256
  /// Characters of a signal's payload: base64 of 64 KiB.
  static let mostPayload = 87_384
  /// Bytes of a call's metadata.
  private static let mostCallMetadata = 4_096
  /// Bytes of a signal's clear part.
  private static let mostClear = 1_024

  /// Who starts a call, or invites: recipients, the call's keys for their devices, and metadata.
  static let ringing = BodyBounds(
    texts: mostRecipients * mostName + mostCallMetadata + 512 + keys.texts, base64: keys.base64,
    members: max(mostRecipients, WrappedKey.most), values: mostRecipients + 32 + keys.values)

  /// Another key for a call.
  static let callKeys = BodyBounds(
    texts: 512 + keys.texts, base64: keys.base64, members: WrappedKey.most, values: 32 + keys.values)

  static let callChange = BodyBounds(texts: mostCallMetadata + 64)

  /// Whatever its clear part has.
  static let signal = BodyBounds(
    texts: 512 + mostClear, base64: mostPayload, members: mostClear / 2, values: mostClear / 2 + 32)

  static let device = BodyBounds(texts: 1_024)

  /// A device's key for the log.
  static let deviceKey = BodyBounds(texts: 512, base64: (DeviceKey.mostBytes + 2) / 3 * 4)

  /// Of a snapshot, beside the state itself: who takes part.
  static let participants = BodyBounds(
    texts: (mostRecipients + 1) * mostName, members: mostRecipients, values: mostRecipients + 32)

  /// Keys that are wrapped for devices: of each its person, its device, the id of the device's key, and the ciphertext.
  private static let keys = (
    texts: WrappedKey.most * (2 * mostName + 64),
    base64: WrappedKey.most * ((WrappedKey.mostBytes + 2) / 3 * 4),
    values: WrappedKey.most * 5
  )
}
