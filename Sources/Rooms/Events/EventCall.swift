/// The call that an event is about, as it stands then.
public struct EventCall: Equatable, Sendable {
  public var id: String
  public var callerId: String
  /// `relay` or `direct`.
  public var path: String
  /// `audio` or `video`.
  public var media: String
  /// Everyone who was ever invited.
  public var people: [String]
  /// Once it is over.
  public var outcome: String?
  /// Milliseconds since it was connected; nil: it isn't over, or never was.
  public var duration: Int?
  /// In the events of a shared session: its id and its experience.
  public var session: String?
  public var experience: String?

  public init(
    id: String, callerId: String, path: String, media: String, people: [String], outcome: String? = nil,
    duration: Int? = nil, session: String? = nil, experience: String? = nil
  ) {
    (self.id, self.callerId, self.path, self.media, self.people) = (id, callerId, path, media, people)
    (self.outcome, self.duration) = (outcome, duration)
    (self.session, self.experience) = (session, experience)
  }
}
