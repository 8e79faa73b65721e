/// What an alert says beside the caller's name.
public struct PushTexts: Equatable, Sendable {
  public var audioRing = "Incoming call"
  public var videoRing = "Incoming video call"
  public var missed = "Missed call"
  public var answeredElsewhere = "Answered on another device"
  public var declinedElsewhere = "Declined on another device"
  /// Of the app's sounds the one that rings; the system's own unless another is named.
  public var sound = "default"

  public init() {}

  func line(_ notice: PushNotice) -> String {
    switch notice.kind {
    case .ring: notice.media == "video" ? videoRing : audioRing
    case .ended(reason: "answeredElsewhere"): answeredElsewhere
    case .ended(reason: "declinedElsewhere"): declinedElsewhere
    case .ended: missed
    }
  }
}
