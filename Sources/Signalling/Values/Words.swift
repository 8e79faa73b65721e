public import AccessTokens
public import Model

extension TrackSource: Word {
  public static var definition: String? { "Source" }
  public static var summary: String { "What a track shows or lets hear." }
}

extension LeaveReason: Word {
  public static var definition: String? { "LeaveReason" }
  public static var summary: String { "Why a participant left the room." }
}

extension RecordingEndReason: Word {
  public static var definition: String? { "RecordingEndReason" }
  public static var summary: String { "Why a recording ended." }
}

extension RoomEventKind: Word {}
extension ConnectionQuality: Word {}

extension SignallingErrorCode: Word {
  public static var definition: String? { "ErrorCode" }
  public static var summary: String { "Listed in signalling.md." }
}

extension SignallingErrorCode.Retry: Word {}
