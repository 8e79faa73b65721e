internal import Model
internal import Negotiation

/// What a room goes by that is no part of its state: of this process and its configuration.
struct RoomTerms: Sendable {
  /// Of settings of which nothing is said.
  var defaults = RoomSettings()
  /// Participants that any room takes at most.
  var participantLimit: Int
  /// How long a session lives on without a socket.
  var reconnectGrace: Duration
  /// What is negotiated with everybody.
  var policy: NegotiationPolicy
  /// The server's time line.
  var epoch: Epoch

  var stateBudget: StateBudget { StateBudget(participants: participantLimit) }

  /// A room's own limits stay below the server's, and its metadata within its bound, whether it is made or changed so.
  func check(_ settings: RoomSettings) throws(AdministrationError) {
    #if PLANTED_DEFECTS
      let most = PlantedDefect.isOn(.aboveTheServer) ? .max : participantLimit
    #else
      let most = participantLimit
    #endif
    if let requested = settings.maxParticipants, requested > most {
      throw .aboveLimit("maxParticipants", most)
    }
    guard (settings.metadata?.utf8.count ?? 0) <= ParticipantChange.metadataLimit else {
      throw .tooLarge("metadata")
    }
    guard let history = settings.dataHistory else { return }
    let bounds = [
      ("topics", history.topics.count, DataHistoryTerms.mostTopics),
      ("max", history.max, DataHistoryTerms.mostMessages),
      ("seconds", history.seconds, DataHistoryTerms.mostSeconds),
    ]
    for (name, value, most) in bounds where !(1...most).contains(value) {
      throw .aboveLimit("dataHistory.\(name)", most)
    }
  }
}
