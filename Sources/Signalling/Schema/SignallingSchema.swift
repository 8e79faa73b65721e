internal import AccessTokens
internal import Model

/// The JSON schema of the protocol, docs/signalling.schema.json.
public enum SignallingSchema {
  /// Ends with a line feed.
  public static var text: String {
    SchemaText.object([
      ("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
      ("$id", .text("urn:roost:signalling:v1")),
      ("title", .text("Roost's native signalling, roost.v1")),
      (
        "description",
        .text(
          "Messages are described by $defs/ClientMessage and $defs/ServerMessage. Unknown types and fields are ignored."
        )
      ),
      ("anyOf", .list([.reference("ClientMessage"), .reference("ServerMessage")])),
      ("$defs", .object(definitions)),
    ]).lines() + "\n"
  }

  private static var definitions: [(String, SchemaText)] {
    let values: [any Record.Type] = [
      TrackBody.self, PermissionsBody.self, ParticipantBody.self, PublisherBody.self, RoomBody.self,
      Slot.self,
    ]
    let answers: [any Record.Type] = [
      ICEServerBody.self, AnsweredTrack.self, DeclinedSection.self, ServerMessage.ResumedAnswer.self,
      SpeakerBody.self, QualityBody.self, WatchedLayer.self, TakenCodec.self, TransportReport.self,
      WantedPicture.self,
      SentLayer.self,
      ExplainedRequest.self, ExplainedStream.self, SharedEventBody.self,
    ]
    return texts + [words(TrackSource.self), attributes] + values.map { describe($0) }
      + [
        words(LeaveReason.self), words(RecordingEndReason.self), describe(RecordingBody.self),
        describe(EventCallBody.self),
        describe(EventBody.self), words(SignallingErrorCode.self),
      ]
      + [
        words(PictureQuality.self), describe(ClientMessage.OfferedSection.self),
        describe(ClientMessage.OfferedLayer.self), describe(ClientMessage.ViewedTrack.self),
        describe(NewSessionEvent.self),
      ] + ClientMessage.kinds.map { describe($0) }
      + [oneOf("ClientMessage", "From the client.", ClientMessage.kinds), words(StreamReasonWord.self)]
      + answers.map { describe($0) }
      + ServerMessage.kinds.map { describe($0) }
      + [oneOf("ServerMessage", "From the server.", ServerMessage.kinds)]
  }

  private static func describe<Value: Record>(_ type: Value.Type) -> (String, SchemaText) {
    (Value.definition, SchemaWriter.describe(type))
  }

  private static func words<Value: Word>(_ type: Value.Type) -> (String, SchemaText) {
    (Value.definition ?? "", SchemaWriter.describe(words: type))
  }

  private static func oneOf(
    _ name: String, _ description: String, _ kinds: [any Message.Type]
  ) -> (String, SchemaText) {
    (
      name,
      .object([
        ("description", .text(description)), ("oneOf", .list(kinds.map { .reference($0.definition) })),
      ])
    )
  }

  /// What is a text with a rule.
  private static var texts: [(String, SchemaText)] {
    [
      (
        "RequestID",
        .object([
          (
            "description",
            .text("Names a request, so that its answer can: a string of at most 64 bytes, or a whole number.")
          ),
          (
            "anyOf",
            .list([
              .object([
                ("type", .text("string")), ("minLength", .integer(1)),
                ("maxLength", .integer(RequestID.maximumBytes)),
              ]),
              .type("integer"),
            ])
          ),
        ])
      ),
      id("TrackID", "TR_"), id("ParticipantID", "PA_"),
    ]
  }

  private static func id(_ name: String, _ prefix: String) -> (String, SchemaText) {
    (
      name,
      .object([
        ("type", .text("string")), ("description", .text("\(prefix) and random; never comes again.")),
        ("pattern", .text("^\(prefix)")),
      ])
    )
  }

  private static var attributes: (String, SchemaText) {
    (
      "Attributes",
      .object([
        ("type", .text("object")), ("description", .text("At most 256, at most 64 KiB together.")),
        ("additionalProperties", .type("string")),
        ("maxProperties", .integer(ClientMessage.maximumAttributes)),
      ])
    )
  }
}
