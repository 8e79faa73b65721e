/// Where requests to a room go.
protocol RoomRequests: Sendable {
  func handle(_ input: RoomInput) async -> RoomReply
  /// The same, of what others hear of: it may wait until they have heard of what was before.
  func ask(_ input: RoomInput) async -> RoomReply
  /// Returns once all that the room has done by now is stored.
  func stored() async throws(RequestError)
  /// Why a participant gets what it gets.
  func explainOwn(_ id: ParticipantID) async throws(RequestError) -> ParticipantExplanation
}
